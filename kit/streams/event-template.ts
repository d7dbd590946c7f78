import type { ChoiceDelta, CompletionChunk, Delta } from '../canonical/forms.ts'
import { parseChunk } from '../canonical/parse.ts'
import { readable } from '../readable.ts'
import { EventShape } from './event-shape.ts'
import type { EventForm } from './sse.ts'

/** Texts of a delta that grow event by event. */
const growing = ['content', 'reasoning_content', 'reasoning'] as const

/** Random text that OpenAI puts into each event, so that its length tells nothing. */
const padded = 'obfuscation'

/** Events that are longer do not come by the hundreds, and to look for their shape takes as long as to parse them. */
const longest = 32 * 1024

/** The shape of events that add to one text of one choice, and what they mean: neighbours mean what one with all of their texts would. */
export class EventTemplate implements EventForm {
  readonly #shape: EventShape
  readonly #field: string
  readonly #like: CompletionChunk

  private constructor(shape: EventShape, field: string, like: CompletionChunk) {
    this.#shape = shape
    this.#field = field
    this.#like = like
    // Chunks show it to plugins.
    Object.freeze(this)
  }

  /**
   * The template of an event, as it is written and what it means; undefined for one that tells more than a growing text, is
   * very long, or is no JSON.
   */
  static of(event: string, known?: CompletionChunk): EventTemplate | undefined {
    if (event.length > longest) return undefined
    const data = known ?? readable(() => parseChunk(event))
    const field = data && growingField(data)
    if (!data || field === undefined) return undefined
    const shape = EventShape.of(event, [field, ...(padded in data ? [padded] : [])])
    return shape && isTrue(shape, field, data) ? new EventTemplate(shape, field, data) : undefined
  }

  endOf(events: string, at: number): number {
    return this.#shape.endOf(events, at)
  }

  split(events: Buffer): Buffer[] {
    return this.#shape.split(events)
  }

  /** The chunk of events that fit, which adds all of their texts. Throws a coded error where one of these is no JSON. */
  read(events: Buffer): CompletionChunk {
    const [text, padding] = this.#shape.textsOf(events)
    const choice = this.#like.choices[0]!
    const choices = [{ ...choice, delta: { ...choice.delta, [this.#field]: text } }]
    return { ...this.#like, choices, ...(padding !== undefined && { [padded]: padding }) }
  }
}

/** Whether other texts change these fields, and no others that are spelled the same. */
function isTrue(shape: EventShape, field: string, data: CompletionChunk): boolean {
  const probe = readable(() => parseChunk(shape.with(['text', 'padding'])))
  return probe?.choices[0]?.delta?.[field] === 'text' && (!(padded in data) || probe[padded] === 'padding')
}

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
