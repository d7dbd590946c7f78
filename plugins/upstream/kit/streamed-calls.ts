import { newId, type ToolCallDelta } from '#kernel'
import { objectIn } from './foreign-json.ts'

/** A part of a tool call as a provider wrote it. */
interface Written {
  readonly index?: number
  readonly id?: string | null | undefined
  readonly function?: { readonly name?: string | null; readonly arguments?: unknown } | null | undefined
  /** A call of a tool of free text. */
  readonly custom?: { readonly name?: string | null } | null
  readonly [field: string]: unknown
}

interface OpenCall {
  readonly index: number
  readonly id: string | undefined
  /** What came of its arguments. */
  json: string
}

/**
 * The arguments of a call as the JSON text of an object. Some providers write the object itself, and nothing, `null` or
 * an empty text where the function has no parameters. What was cut off stays as it is: nothing is added to it.
 */
export function argumentsText(written: unknown, { isCut = false } = {}): string {
  const text = typeof written === 'string' ? written : written == null ? '' : JSON.stringify(written)
  return !isCut && isNothing(text) ? '{}' : text
}

const isNothing = (json: string): boolean => json.trim() === '' || json.trim() === 'null'

/**
 * Numbers the tool calls of one streamed answer and writes their arguments as texts, whatever its provider makes of
 * them, and names those that have no id. A new id or, where there are none, a name after complete arguments begins a new call, also under a number that
 * another call has.
 */
export class StreamedCalls {
  /** The call that goes on under each of the provider's numbers. */
  readonly #open = new Map<number, OpenCall>()
  /** Calls none of whose arguments has been given on: what may become `null` waits for its rest. Each part is asked about them. */
  readonly #silent = new Set<OpenCall>()
  readonly #indexes = new Set<number>()
  #last = -1
  #isOdd = false

  /** Whether parts that only add arguments must be seen too: they need another number, or a call still lacks arguments. */
  get isWatching(): boolean {
    return this.#isOdd || this.#silent.size > 0
  }

  /** The part as it should have been written; the same object where it was. `place` is its place among its neighbours. */
  take(part: Written, place = 0): ToolCallDelta {
    const number = part.index ?? place
    const text = argumentsText(part.function?.arguments, { isCut: true })
    const before = this.#open.get(number)
    const goesOn = before !== undefined && !isAnother(before, part, text)
    const call = goesOn ? before : this.#begin(number, part)
    const given = this.#given(call, text)
    const isNameless = !goesOn && !part.id && Boolean(part.function?.name)
    if (call.index === part.index && !isNameless && (part.function?.arguments ?? '') === given)
      return part as ToolCallDelta
    return {
      ...part,
      index: call.index,
      ...(isNameless && { id: newId('call_') }),
      ...(part.function && { function: { ...part.function, arguments: given } }),
    } as ToolCallDelta
  }

  /** The parts that are missing when the answer has ended: empty arguments of calls that got none. */
  end(): ToolCallDelta[] {
    const silent = [...this.#silent]
    this.#silent.clear()
    return silent.map(({ index }) => ({ index, function: { arguments: '{}' } }))
  }

  #begin(number: number, { id, index, custom }: Written): OpenCall {
    const next = this.#indexes.has(number) ? this.#last + 1 : number
    const call = { index: next, id: id || undefined, json: '' }
    if (next !== index || !id) this.#isOdd = true
    this.#indexes.add(next)
    this.#last = Math.max(this.#last, next)
    if (!custom) this.#silent.add(call)
    this.#open.set(number, call)
    return call
  }

  /** What of the arguments can be given on. */
  #given(call: OpenCall, text: string): string {
    call.json += text
    if (!this.#silent.has(call)) return text
    if ('null'.startsWith(call.json.trim())) return ''
    this.#silent.delete(call)
    return call.json
  }
}

function isAnother(call: OpenCall, { id, function: fn, custom }: Written, text: string): boolean {
  // Some give each part of one call another id; only the first has the name.
  if (!fn?.name && !custom?.name) return false
  if (id && call.id) return id !== call.id
  return text !== '' && objectIn(call.json) !== undefined
}
