import type { Json, JsonObject } from '#kernel'
import { type Finder, findAll, type PersonalFinding, personalFinders, personalTypes, toldNames } from '#kit'
import type { Example, Turn } from './example.ts'

export type Mask = (example: Example) => Example

/**
 * Gives a function that replaces personal data in an example by marks of its kind, in all texts, arguments of tools and
 * descriptions of tools. A name that the conversation introduces is replaced wherever it stands.
 */
export function masking(): Mask {
  const finders = personalFinders(personalTypes, ['US'])
  const nameFinders = personalFinders(['name'], [])
  return (example) => {
    const names = toldNames(textsOf(example), nameFinders)
    return masked(example, maskWith(names ? [names, ...finders] : finders))
  }
}

const maskWith =
  (finders: readonly Finder<PersonalFinding>[]) =>
  (text: string): string => {
    let result = ''
    let at = 0
    for (const { start, end, type } of findAll(finders, text)) {
      result += `${text.slice(at, start)}[${type.toUpperCase()}]`
      at = end
    }
    return result + text.slice(at)
  }

function masked({ turns, tools }: Example, mask: (text: string) => string): Example {
  const object = (given: JsonObject): JsonObject => maskedJson(given, mask) as JsonObject
  const turn = (one: Turn): Turn =>
    one.role === 'assistant'
      ? {
          ...one,
          text: mask(one.text),
          calls: one.calls.map((call) => ({ ...call, input: object(call.input) })),
        }
      : { ...one, text: mask(one.text) }
  return {
    turns: turns.map(turn),
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      ...(description !== undefined && { description: mask(description) }),
      parameters: object(parameters),
    })),
  }
}

/** JSON with the personal data in its texts, keys and numbers replaced; such a number becomes a text. */
function maskedJson(value: Json, mask: (text: string) => string): Json {
  if (typeof value === 'string') return mask(value)
  if (typeof value === 'number') {
    const text = mask(String(value))
    return text === String(value) ? value : text
  }
  if (Array.isArray(value)) return value.map((item) => maskedJson(item, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskedJson(item, mask)]))
}

const textsOf = ({ turns }: Example): string[] =>
  turns.flatMap((turn) => [
    turn.text,
    ...(turn.role === 'assistant' ? turn.calls.map(({ input }) => JSON.stringify(input)) : []),
  ])
