const CRLF2 = Buffer.from('\r\n\r\n')

export interface ResponseEvents {
  /** A piece of the body, without the chunk encoding around it; the bytes are valid during the call only. */
  body(bytes: Buffer): void
  /** The response is complete. `keepAlive` is false when the server will close. */
  end(status: number, keepAlive: boolean): void
}

type Phase = 'head' | 'length' | 'chunk-size' | 'chunk' | 'chunk-end' | 'trailer'

/**
 * Reads HTTP/1.1 responses off one connection, one after another. Knows content-length and chunked bodies and
 * nothing else: enough for servers under test, at a fraction of the cost of a whole parser.
 */
export class ResponseReader {
  readonly #events: ResponseEvents
  #phase: Phase = 'head'
  #pending: Buffer | undefined
  #left = 0
  #status = 0
  #keepAlive = true

  constructor(events: ResponseEvents) {
    this.#events = events
  }

  push(data: Buffer): void {
    let bytes = this.#pending ? Buffer.concat([this.#pending, data]) : data
    this.#pending = undefined
    while (bytes.length > 0) {
      const used = this.#step(bytes)
      if (used === 0) {
        this.#pending = bytes
        return
      }
      bytes = bytes.subarray(used)
    }
  }

  /** How many bytes the current phase could use; 0 when it needs more of them. */
  #step(bytes: Buffer): number {
    switch (this.#phase) {
      case 'head':
        return this.#head(bytes)
      case 'length':
      case 'chunk':
        return this.#data(bytes)
      case 'chunk-size':
        return this.#chunkSize(bytes)
      case 'chunk-end':
        return bytes.length < 2 ? 0 : this.#enter('chunk-size', 2)
      case 'trailer':
        return bytes.length < 2 ? 0 : this.#finish(2)
    }
  }

  #head(bytes: Buffer): number {
    const end = bytes.indexOf(CRLF2)
    if (end < 0) return 0
    const head = bytes.toString('latin1', 0, end)
    this.#status = Number(head.slice(9, 12))
    this.#keepAlive = !/\r\nconnection: *close/i.test(head)
    const used = end + CRLF2.length
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined) {
      if (!/\r\ntransfer-encoding: *chunked/i.test(head)) throw new Error('response without a length')
      return this.#enter('chunk-size', used)
    }
    this.#left = Number(length)
    return this.#left === 0 ? this.#finish(used) : this.#enter('length', used)
  }

  #data(bytes: Buffer): number {
    const used = Math.min(this.#left, bytes.length)
    this.#events.body(used === bytes.length ? bytes : bytes.subarray(0, used))
    this.#left -= used
    if (this.#left > 0) return used
    return this.#phase === 'chunk' ? this.#enter('chunk-end', used) : this.#finish(used)
  }

  #chunkSize(bytes: Buffer): number {
    const end = bytes.indexOf(10)
    if (end < 0) return 0
    this.#left = Number.parseInt(bytes.toString('latin1', 0, end), 16)
    return this.#enter(this.#left === 0 ? 'trailer' : 'chunk', end + 1)
  }

  #enter(phase: Phase, used: number): number {
    this.#phase = phase
    return used
  }

  #finish(used: number): number {
    this.#phase = 'head'
    this.#events.end(this.#status, this.#keepAlive)
    return used
  }
}
