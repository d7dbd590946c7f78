import type { ChoiceDelta, CompletionChunk, Delta } from '../kernel/call/canonical.ts'
import { providerError } from '../kernel/errors.ts'
import { parseChunk } from '../kernel/stream/parse.ts'
import { readable } from './readable.ts'

/** Texts of a delta that grow event by event. */
const growing = ['content', 'reasoning_content', 'reasoning'] as const

/** Random text that OpenAI puts into each event, so that its length tells nothing. */
const padded = 'obfuscation'

/**
 * The parts that the events of a stream share, as they are written: all but one text, and padding. JSON in which one string
 * takes the place of another means the same but for that string, so an event that fits need not be parsed, and neighbours that
 * fit mean what one event with all of their texts would.
 */
export class EventTemplate {
  readonly #before: string
  readonly #between: string
  /** The text after the padding; undefined where there is none. */
  readonly #after: string | undefined
  readonly #field: string
  readonly #like: CompletionChunk

  private constructor(parts: readonly string[], field: string, like: CompletionChunk) {
    this.#before = parts[0]!
    this.#between = parts[1]!
    this.#after = parts[2]
    this.#field = field
    this.#like = like
  }

  /**
   * The template of an event, as it is written and what it means; undefined for one that tells more than a growing text, or is
   * no JSON. Its own parts are ASCII, so that it fits events whether their bytes are read as UTF-8 or as Latin-1.
   */
  static of(event: string, known?: CompletionChunk): EventTemplate | undefined {
    const data = known ?? readable(() => parseChunk(event))
    const field = data && growingField(data)
    if (!data || field === undefined) return undefined
    const [before, rest] = withoutString(event, field) ?? []
    if (before === undefined || rest === undefined) return undefined
    const parts = [before, ...(withoutString(rest, padded) ?? [rest])]
    if (!parts.every((part) => ascii.test(part))) return undefined
    const template = new EventTemplate(parts, field, data)
    return template.#isTrue() ? template : undefined
  }

  /** Where the event ends that begins at this place; -1 when it is another kind of event, or not all of it is there. */
  endOf(events: string, at: number): number {
    if (!isAt(events, at, this.#before)) return -1
    const start = at + this.#before.length
    let quote = closingQuote(events, start)
    if (quote === -1 || !isAt(events, quote, this.#between)) return -1
    let end = quote + this.#between.length
    if (this.#after !== undefined) {
      quote = closingQuote(events, end)
      if (quote === -1 || !isAt(events, quote, this.#after)) return -1
      end = quote + this.#after.length
    }
    // A line feed in a text ends its line, so what follows is no text.
    return events.indexOf('\n', start) < quote ? -1 : end
  }

  /** Events that fit, one by one. */
  split(events: Buffer): Buffer[] {
    const all = events.toString('latin1')
    const apart: Buffer[] = []
    for (let at = 0, end = 0; at < all.length; at = end) {
      end = this.endOf(all, at)
      apart.push(events.subarray(at, end))
    }
    return apart
  }

  /** The chunk of events that fit, which adds all of their texts. Throws a coded error where one of these is no JSON. */
  read(events: Buffer): CompletionChunk {
    const all = events.toString()
    let text = ''
    let padding = ''
    for (let at = 0; at < all.length; ) {
      const start = at + this.#before.length
      const close = closingQuote(all, start)
      text += unquoted(all, start, close)
      at = close + this.#between.length
      if (this.#after === undefined) continue
      const last = closingQuote(all, at)
      padding += unquoted(all, at, last)
      at = last + this.#after.length
    }
    return this.#chunk(text, padding)
  }

  #chunk(text: string, padding: string): CompletionChunk {
    const choice = this.#like.choices[0]!
    const choices = [{ ...choice, delta: { ...choice.delta, [this.#field]: text } }]
    return this.#after === undefined
      ? { ...this.#like, choices }
      : { ...this.#like, choices, [padded]: padding }
  }

  /** Whether another text in these places changes these fields, and no others that are spelled the same. */
  #isTrue(): boolean {
    const parts = [this.#before, this.#between, ...(this.#after === undefined ? [] : [this.#after])]
    const event = `${parts[0]}text${parts[1]}${parts.length > 2 ? `padding${parts[2]}` : ''}`
    const probe = readable(() => parseChunk(event))
    return (
      probe?.choices[0]?.delta?.[this.#field] === 'text' &&
      (this.#after === undefined || probe[padded] === 'padding')
    )
  }
}

/** The same as `startsWith`, several times as fast: a slice copies nothing, and equality compares words. */
const isAt = (text: string, at: number, part: string): boolean => text.slice(at, at + part.length) === part

/** The text that a chunk adds to, if it does nothing else that matters once more. */
function growingField(data: CompletionChunk): string | undefined {
  const [choice] = data.choices
  if (data.choices.length !== 1 || !choice?.delta) return undefined
  if (!isPlain(data, 'choices') || !isPlain(choice, 'delta') || choice.finish_reason || data.usage)
    return undefined
  const { delta } = choice
  const field = growing.find((name) => typeof delta[name] === 'string' && delta[name] !== '')
  return field !== undefined && saysNothingElse(delta, field) ? field : undefined
}

/** Whether nothing but this field holds more than one value. */
function isPlain(holder: CompletionChunk | ChoiceDelta, but: string): boolean {
  for (const field in holder) if (field !== but && typeof (holder[field] ?? '') === 'object') return false
  return true
}

function saysNothingElse(delta: Delta, field: string): boolean {
  for (const other in delta) {
    const value = delta[other]
    if (other !== field && other !== 'role' && value !== null && value !== '') return false
  }
  return true
}

/** The text before and after the value of the one field of this name, its quotes included. */
function withoutString(json: string, field: string): [before: string, after: string] | undefined {
  const name = new RegExp(`"${field}": ?"`, 'g')
  const start = name.test(json) ? name.lastIndex : -1
  if (start === -1 || name.test(json)) return undefined
  const close = closingQuote(json, start)
  return close === -1 ? undefined : [json.slice(0, start), json.slice(close)]
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
