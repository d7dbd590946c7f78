import type { Message } from '#kernel'
import { parseForeign } from '#kit'

/** A call of a tool in an answer. */
export interface Called {
  readonly name: string
  /** The arguments as the model wrote them. */
  readonly given: string
  /** Whether they are free text and no JSON. */
  readonly isText: boolean
}

interface Named {
  readonly name?: unknown
  readonly arguments?: unknown
  readonly input?: unknown
}

/** The calls of tools in a message, in their order; last the one of old, `function_call`. */
export function calledIn({ tool_calls, function_call }: Message): Called[] {
  const calls = (tool_calls ?? []).map((call): Called => {
    const { custom } = call as { readonly custom?: Named }
    return custom ? read(custom, custom.input, true) : read(call.function ?? {})
  })
  const old = function_call as Named | null | undefined
  return old ? [...calls, read(old)] : calls
}

const read = (named: Named, given = named.arguments, isText = false): Called => ({
  name: String(named.name ?? ''),
  given: String(given ?? ''),
  isText,
})

/**
 * The value of a call's arguments: those of a tool without any may be empty. Throws a SyntaxError for what is no JSON object, or
 * has a field twice: readers differ in which of the two counts, so one of them could get what was not judged.
 */
export function argumentsOf({ given, isText }: Called): object {
  if (isText) return { input: given }
  const value = given.trim() === '' ? {} : parseForeign(given)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('no object')
  const written = given.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1
  if (written !== fieldsIn(value)) throw new SyntaxError('a field is there twice')
  return value
}

/** The number of fields in a value, at every depth. */
function fieldsIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const values = Object.values(value)
  return values.reduce((sum, inner) => sum + fieldsIn(inner), Array.isArray(value) ? 0 : values.length)
}
