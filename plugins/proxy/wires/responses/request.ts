import { badRequest, type ModelRequest } from '#kernel'
import { messagesOf, type PlacedMessage } from './input.ts'
import { parametersOf } from './parameters.ts'
import type { Place } from './places.ts'
import type { Fields, Report, ResponsesBody } from './schema.ts'

/** The items of a body's input; a text is one message of the user. */
export function inputOf({ input, previous_response_id: previous }: ResponsesBody): readonly Fields[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  if (input && input.length > 0) return input
  if (input || previous != null) return []
  throw nothingAsked()
}

export interface Decoded {
  readonly request: ModelRequest
  /** Of each message. */
  readonly places: readonly Place[]
}

/** The canonical request: instructions, what was said in earlier turns, the input. */
export function requestOf(
  body: ResponsesBody,
  earlier: readonly Fields[],
  input: readonly Fields[],
  report: Report,
): Decoded {
  const { instructions } = body
  const placed: PlacedMessage[] = [
    ...(instructions
      ? [{ message: { role: 'system' as const, content: instructions }, place: { at: 'instructions' } }]
      : []),
    ...messagesOf(earlier, () => {}).map(({ message }) => ({
      message,
      place: { at: 'previous_response_id' },
    })),
    ...messagesOf(input, report),
  ]
  if (placed.length === 0) throw nothingAsked()
  const messages = placed.map(({ message }) => message)
  return { request: { ...parametersOf(body, report), messages }, places: placed.map(({ place }) => place) }
}

const nothingAsked = () =>
  badRequest('input: there is nothing to answer; give a text or a list of items.', { param: 'input' })
