import { providerError } from '../errors.ts'
import type { EventForm } from './sse.ts'

/**
 * How events are written that differ in the texts of a few fields alone. JSON in which one string takes the place of another
 * means the same but for that string, so an event of the shape of one that was parsed need not be parsed itself.
 */
export class EventShape implements EventForm {
  /** What stands before, between and behind the texts. */
  readonly #parts: readonly string[]

  private constructor(parts: readonly string[]) {
    this.#parts = parts
  }

  /**
   * The shape of an event, given the fields whose texts differ, in their order; undefined where one of them is missing or
   * there twice. All but the texts is ASCII, so that the shape fits whether bytes are read as UTF-8 or as Latin-1.
   */
  static of(event: string, fields: readonly string[]): EventShape | undefined {
    const parts: string[] = []
    let rest = event
    for (const field of fields) {
      const place = textIn(rest, field)
      if (!place) return undefined
      parts.push(rest.slice(0, place.start))
      rest = rest.slice(place.end)
    }
    parts.push(rest)
    return parts.every((part) => ascii.test(part)) ? new EventShape(parts) : undefined
  }

  /** An event of this shape with these texts, which need no escapes. */
  with(texts: readonly string[]): string {
    return this.#parts.reduce((event, part, i) => event + texts[i - 1]! + part)
  }

  /** Where the event ends that begins at this place; -1 when it has another shape, or not all of it is there. */
  endOf(events: string, at: number): number {
    const parts = this.#parts
    let quote = at
    let end = at
    for (let i = 0; i < parts.length; i += 1) {
      const part = parts[i]!
      if (i > 0) quote = closingQuote(events, end)
      if (quote === -1 || !isAt(events, quote, part)) return -1
      end = quote + part.length
    }
    // A line feed in a text ends its line, so what follows is no text.
    return events.indexOf('\n', at + parts[0]!.length) < quote ? -1 : end
  }

  /** Events of this shape, one by one. */
  split(events: Buffer): Buffer[] {
    const all = events.toString('latin1')
    const apart: Buffer[] = []
    for (let at = 0, end = 0; at < all.length; at = end) {
      end = this.endOf(all, at)
      apart.push(events.subarray(at, end))
    }
    return apart
  }

  /** The texts of events of this shape, those of each field joined. Throws a coded error where one of these is no JSON. */
  textsOf(events: Buffer): string[] {
    const all = events.toString()
    const parts = this.#parts
    const texts = parts.slice(1).map(() => '')
    for (let end = 0; end < all.length; ) {
      end += parts[0]!.length
      for (let i = 0; i < texts.length; i += 1) {
        const quote = closingQuote(all, end)
        texts[i] += unquoted(all, end, quote)
        end = quote + parts[i + 1]!.length
      }
    }
    return texts
  }
}

/** The same as `startsWith`, several times as fast: a slice copies nothing, and equality compares words. */
const isAt = (text: string, at: number, part: string): boolean => text.slice(at, at + part.length) === part

/** Where the text of the one field of this name stands, between its quotes. */
function textIn(json: string, field: string): { readonly start: number; readonly end: number } | undefined {
  const name = new RegExp(`"${field}": ?"`, 'g')
  const start = name.test(json) ? name.lastIndex : -1
  if (start === -1 || name.test(json)) return undefined
  const end = closingQuote(json, start)
  return end === -1 ? undefined : { start, end }
}

/** Where the string ends in which this place is; -1 when it does not. */
function closingQuote(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at !== -1; at = json.indexOf('"', at + 1)) {
    let backslashes = 0
    while (at - backslashes > from && json.charCodeAt(at - backslashes - 1) === 92) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return -1
}

/** The value of a JSON string between its quotes. */
function unquoted(json: string, start: number, end: number): string {
  const inner = json.slice(start, end)
  if (!escaped.test(inner)) return inner
  try {
    return JSON.parse(`"${inner}"`) as string
  } catch (cause) {
    throw providerError('The provider sent an event that is not JSON.', { cause })
  }
}

/** The characters that JSON writes with a backslash, and those that may not be in its strings at all. */
const escaped = /[\\\p{Cc}]/u

const ascii = /^[\x20-\x7e\r\n]*$/
