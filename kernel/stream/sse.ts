const LF = 10
const CR = 13
const empty = Buffer.alloc(0)

/**
 * Cuts a byte stream into server-sent events at any chunk border. Events keep their bytes, blank line included, so
 * that they can be passed on untouched. An event over `maxBytes` is an error: nobody sends one in good faith.
 */
export class EventSplitter {
  #rest: Buffer = empty
  /** Where the search for the blank line goes on, so that a slowly growing event is not searched again and again. */
  #searched = 0
  readonly #maxBytes: number

  constructor(maxBytes = 16 * 1024 * 1024) {
    this.#maxBytes = maxBytes
  }

  /** The events that are complete with these bytes. */
  push(bytes: Buffer): Buffer[] {
    const buffer = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const events: Buffer[] = []
    let start = 0
    let at = this.#searched
    while ((at = buffer.indexOf(LF, at)) !== -1) {
      const end = blankLineEnd(buffer, at)
      if (end === undefined) break
      if (end === 0) {
        at += 1
        continue
      }
      events.push(buffer.subarray(start, end))
      start = at = end
    }
    this.#rest = start === buffer.length ? empty : buffer.subarray(start)
    this.#searched = Math.max(0, (at === -1 ? buffer.length : at) - start)
    if (this.#rest.length > this.#maxBytes) throw new RangeError('an event of the stream is too large')
    return events
  }

  /** What is left when the stream ends: an event without its blank line, or nothing. */
  end(): Buffer | undefined {
    const rest = this.#rest
    this.#rest = empty
    this.#searched = 0
    return rest.length === 0 ? undefined : rest
  }
}

/**
 * Where the event ends if the line feed at `at` is followed by an empty line; 0 when it is not, undefined when the
 * bytes to tell have not come yet.
 */
function blankLineEnd(buffer: Buffer, at: number): number | undefined {
  const next = buffer[at + 1]
  if (next === undefined) return undefined
  if (next === LF) return at + 2
  if (next !== CR) return 0
  const last = buffer[at + 2]
  if (last === undefined) return undefined
  return last === LF ? at + 3 : 0
}

const dataField = Buffer.from('data:')
const done = Buffer.from('[DONE]')

/** Whether an event carries data; comments and bare event names do not. */
export function carriesData(event: Buffer): boolean {
  return event.subarray(0, 5).equals(dataField) || event.includes('\ndata:')
}

/** Whether an event is OpenAI's end mark. */
export function isDone(event: Buffer): boolean {
  return event.length < 24 && event.includes(done)
}

/** An event as bytes. Line feeds inside JSON are escaped, so one `data:` line is enough. */
export function encodeEvent(data: unknown, name?: string): string {
  const head = name === undefined ? '' : `event: ${name}\n`
  return `${head}data: ${JSON.stringify(data)}\n\n`
}
