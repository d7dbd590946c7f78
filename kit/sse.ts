import { dataOf } from '../kernel/stream/parse.ts'
import { isTooDeep } from './foreign-json.ts'

const LF = 10
const CR = 13
const empty = Buffer.alloc(0)

/** An event that is longer, or lies deeper, than any that is sent in good faith: a provider's failure. */
export class EventRefused extends RangeError {}

/**
 * Cuts a byte stream into server-sent events, wherever the chunks of it are cut. Events keep their bytes, blank line included,
 * so that they can be passed on untouched. Lines end with LF or CR LF; no provider sends the lone CR that the standard also
 * allows. An event over `maxBytes`, or one that is nested too deeply, is an EventRefused, after the events before it were
 * given.
 */
export class EventSplitter {
  /** Holds the event that is not complete, from `#start` to `#end`; room behind it is for what comes. */
  #buffer: Buffer = empty
  #start = 0
  #end = 0
  /** Where the search for the blank line goes on, so that a slowly growing event is not searched again and again. */
  #searched = 0
  readonly #maxBytes: number
  #refused: EventRefused | undefined

  constructor(maxBytes = 16 * 1024 * 1024) {
    this.#maxBytes = maxBytes
  }

  /** The events that are complete with these bytes. */
  push(bytes: Buffer): Buffer[] {
    this.#limit()
    this.#append(bytes)
    const buffer = this.#buffer.subarray(0, this.#end)
    const events: Buffer[] = []
    let at = buffer.indexOf(LF, this.#searched)
    while (at !== -1 && !this.#refused) {
      const end = blankLineEnd(buffer, at)
      if (end === undefined) break
      if (end !== 0) {
        this.#take(buffer.subarray(this.#start, end), events)
        this.#start = end
      }
      at = buffer.indexOf(LF, end || at + 1)
    }
    this.#searched = at === -1 ? this.#end : at
    if (events.length === 0) this.#limit()
    return events
  }

  /** The rest when the stream ends: an event without its blank line, or nothing. */
  end(): Buffer | undefined {
    this.#limit()
    const rest: Buffer[] = []
    if (this.#end > this.#start) this.#take(this.#buffer.subarray(this.#start, this.#end), rest)
    this.#buffer = empty
    this.#start = this.#end = this.#searched = 0
    if (this.#refused) throw this.#refused
    return rest[0]
  }

  #take(event: Buffer, events: Buffer[]): void {
    if (isTooDeep(event)) this.#refused = new EventRefused('an event that is nested too deeply')
    else events.push(event)
  }

  #limit(): void {
    if (this.#refused) throw this.#refused
    if (this.#end - this.#start > this.#maxBytes) throw new EventRefused('an event that is too large')
  }

  /**
   * Bytes that begin an event are used where they are. Those that go on with one are copied behind it, into a buffer
   * that doubles, so that an event in many pieces costs no more than its length. Bytes that were handed out are never
   * written over.
   */
  #append(bytes: Buffer): void {
    const held = this.#end - this.#start
    if (held === 0) {
      this.#buffer = bytes
      this.#start = this.#searched = 0
      this.#end = bytes.length
      return
    }
    if (this.#end + bytes.length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(2 * (held + bytes.length))
      this.#buffer.copy(grown, 0, this.#start, this.#end)
      this.#searched -= this.#start
      this.#buffer = grown
      this.#start = 0
      this.#end = held
    }
    bytes.copy(this.#buffer, this.#end)
    this.#end += bytes.length
  }
}

/**
 * The end of the event if the line feed at `at` is followed by an empty line; 0 when it is not, undefined when the bytes that
 * decide it have not come yet.
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
const space = 32
const brace = 123

/** Whether an event carries data; comments and bare event names do not. */
export function carriesData(event: Buffer): boolean {
  return beginsWithData(event) || event.includes('\ndata:')
}

/** Whether an event is OpenAI's end mark. */
export function isDone(event: Buffer): boolean {
  if (event.length >= 256 || beginsWithObject(event)) return false
  return event.includes(done) && eventData(event).trim() === '[DONE]'
}

/** Whether an event begins with `data:`, as nearly all do; compared byte by byte, without a call into the runtime. */
function beginsWithData(event: Buffer): boolean {
  for (let at = 0; at < dataField.length; at += 1) if (event[at] !== dataField[at]) return false
  return true
}

const beginsWithObject = (event: Buffer): boolean =>
  beginsWithData(event) &&
  event[event[dataField.length] === space ? dataField.length + 1 : dataField.length] === brace

/** The value of an event's `data:` lines, joined as the SSE standard says. */
export function eventData(event: Buffer): string {
  return dataOf(event.toString('utf8'))
}

/** An event as bytes. Line feeds inside JSON are escaped, so one `data:` line is enough. */
export function encodeEvent(data: unknown, name?: string): string {
  const head = name === undefined ? '' : `event: ${name}\n`
  return `${head}data: ${JSON.stringify(data)}\n\n`
}
