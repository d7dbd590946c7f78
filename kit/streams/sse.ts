import { dataOf } from '../canonical/parse.ts'
import { excessOfEvent } from '../json/foreign-json.ts'

const LF = 10
const CR = 13
const empty = Buffer.alloc(0)

/** An event that is longer, lies deeper or has more values than any that is sent in good faith: a provider's failure. */
export class EventRefused extends RangeError {}

/** Tells events of one form by how they are written, each byte a character. */
export interface EventForm {
  /** Where the event ends that begins at this place; -1 when it has another form, or not all of it is there. */
  endOf(events: string, at: number): number
}

/** Whole events that lie behind each other. */
export interface EventRun {
  readonly bytes: Buffer
  readonly events: number
}

/** The start of an event that was searched so far in vain is not read again and again. */
const longStart = 4096

/**
 * Cuts a byte stream into server-sent events, wherever the chunks of it are cut. Events keep their bytes, blank line included,
 * so that they can be passed on untouched. Lines end with LF or CR LF; no provider sends the lone CR that the standard also
 * allows. An event over `maxBytes`, or one that is nested too deeply or has too many values, is an EventRefused, after the
 * events before it were given.
 */
export class EventSplitter {
  /** Holds the event that is not complete, from `#start` to `#end`; room behind it is for what comes. */
  #buffer: Buffer = empty
  #start = 0
  #end = 0
  /** Where the search for the blank line goes on, so that a slowly growing event is not searched again and again. */
  #searched = 0
  /** What is in the buffer from `#textStart` on, each byte a character, once a run was looked for. */
  #text: string | undefined
  #textStart = 0
  readonly #maxBytes: number
  #refused: EventRefused | undefined

  constructor(maxBytes = 16 * 1024 * 1024) {
    this.#maxBytes = maxBytes
  }

  /** The events that are complete with these bytes. */
  push(bytes: Buffer): Buffer[] {
    this.add(bytes)
    const events: Buffer[] = []
    for (let event = this.#next(); event; event = this.#next()) events.push(event)
    if (events.length === 0) this.#limit()
    return events
  }

  /** Takes bytes whose events are asked for one by one, or run by run. */
  add(bytes: Buffer): void {
    this.#limit()
    this.#append(bytes)
  }

  /** The event that comes next; undefined while it is not complete. */
  next(): Buffer | undefined {
    const event = this.#next()
    if (!event) this.#limit()
    return event
  }

  /** The events that come next and have this form; undefined when the next one has not. */
  run(form: EventForm): EventRun | undefined {
    if (this.#refused || this.#searched - this.#start > longStart) return undefined
    if (this.#text === undefined) this.#textStart = this.#start
    this.#text ??= this.#buffer.toString('latin1', this.#start, this.#end)
    const text = this.#text
    let events = 0
    let end = this.#start - this.#textStart
    for (let next = form.endOf(text, end); next !== -1; next = form.endOf(text, end)) {
      end = next
      events += 1
    }
    return events === 0 ? undefined : { bytes: this.#takeTo(this.#textStart + end), events }
  }

  /** The rest when the stream ends: an event without its blank line, or nothing. */
  end(): Buffer | undefined {
    this.#limit()
    const rest = this.#end > this.#start ? this.#sound(this.#takeTo(this.#end)) : undefined
    this.#buffer = empty
    this.#start = this.#end = this.#searched = 0
    if (this.#refused) throw this.#refused
    return rest
  }

  #next(): Buffer | undefined {
    if (this.#refused) return undefined
    let at = this.#lineFeed(this.#searched)
    while (at < this.#end) {
      const end = blankLineEnd(this.#buffer, at, this.#end)
      if (end) return this.#sound(this.#takeTo(end))
      if (end === undefined) break
      at = this.#lineFeed(at + 1)
    }
    this.#searched = at
    return undefined
  }

  /** Where the next line feed is; the end where none is. */
  #lineFeed(from: number): number {
    const at = this.#buffer.indexOf(LF, from)
    return at === -1 || at > this.#end ? this.#end : at
  }

  #takeTo(end: number): Buffer {
    const taken = this.#buffer.subarray(this.#start, end)
    this.#start = this.#searched = end
    return taken
  }

  #sound(event: Buffer): Buffer | undefined {
    const excess = excessOfEvent(event)
    if (excess === undefined) return event
    this.#refused = new EventRefused(excess)
    return undefined
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
    this.#text = undefined
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
function blankLineEnd(buffer: Buffer, at: number, limit: number): number | undefined {
  if (at + 1 >= limit) return undefined
  const next = buffer[at + 1]
  if (next === LF) return at + 2
  if (next !== CR) return 0
  if (at + 2 >= limit) return undefined
  return buffer[at + 2] === LF ? at + 3 : 0
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
