import type { Transferable } from 'node:worker_threads'

/** One end of a message channel: a port, the worker that a thread has started, or a worker's own end. */
export interface Port {
  postMessage(value: unknown, transfer?: readonly Transferable[]): void
  on(event: 'message' | 'messageerror' | 'close', listener: (value: unknown) => void): unknown
}

interface Outgoing<M> {
  readonly message: M
  readonly transfer: readonly Transferable[]
}

interface MailboxOptions<M> {
  /** Sends what one turn of the event loop says together. */
  readonly gathers: boolean
  /** Called with a message that cannot cross; it keeps no other one back. */
  readonly refused: (message: M, cause: unknown) => void
}

/** Posts messages to a port, in the order in which they come. */
export class Mailbox<M> {
  readonly #port: Port
  readonly #options: MailboxOptions<M>
  #gathered: Outgoing<M>[] = []

  constructor(port: Port, options: MailboxOptions<M>) {
    this.#port = port
    this.#options = options
  }

  post(message: M, transfer: readonly Transferable[] = []): void {
    this.#gathered.push({ message, transfer })
    if (!this.#options.gathers) this.#flush()
    else if (this.#gathered.length === 1) setImmediate(() => this.#flush())
  }

  /** Drops what was not sent. */
  clear(): void {
    this.#gathered = []
  }

  #flush(): void {
    this.#send(this.#gathered.splice(0))
  }

  #send(outgoing: readonly Outgoing<M>[]): void {
    if (outgoing.length === 0) return
    try {
      this.#port.postMessage(
        outgoing.map(({ message }) => message),
        outgoing.flatMap(({ transfer }) => transfer),
      )
    } catch (error) {
      const [only, ...others] = outgoing
      if (others.length === 0) this.#options.refused(only!.message, error)
      else for (const one of outgoing) this.#send([one])
    }
  }
}
