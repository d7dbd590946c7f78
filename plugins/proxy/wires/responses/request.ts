import { badRequest, type ModelRequest } from '#kernel'
import { messagesOf, type PlacedMessage } from './input.ts'
import { broughtBy, type Offered, offeredIn } from './offered.ts'
import { parametersOf } from './parameters.ts'
import type { Places } from './places.ts'
import type { Fields, Report, ResponsesBody } from './schema.ts'
import { type Tools, toolsOf } from './tools.ts'

/** The items of a body's input; a text is one message of the user. */
export function inputOf({ input, previous_response_id: previous }: ResponsesBody): readonly Fields[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  if (input && input.length > 0) return input
  if (input || previous != null) return []
  throw nothingAsked()
}

export interface Decoded extends Pick<Tools, 'toolbox' | 'freeText'> {
  readonly request: ModelRequest
  readonly places: Places
}

/** The canonical request: instructions, what was said in earlier turns, the input. */
export function requestOf(
  body: ResponsesBody,
  earlier: readonly Fields[],
  input: readonly Fields[],
  report: Report,
): Decoded {
  const { instructions } = body
  const { fields, toolbox, freeText, places } = toolsOf(body, offeredBy(body, earlier, input), report)
  const placed: PlacedMessage[] = [
    ...(instructions
      ? [{ message: { role: 'system' as const, content: instructions }, place: { at: 'instructions' } }]
      : []),
    ...messagesOf(earlier, () => {}).map(({ message }) => ({
      message,
      place: { at: before },
    })),
    ...messagesOf(input, report),
  ]
  if (placed.length === 0) throw nothingAsked()
  const messages = placed.map(({ message }) => message)
  return {
    request: { ...parametersOf(body, report), ...fields, messages },
    places: { messages: placed.map(({ place }) => place), tools: places },
    toolbox,
    freeText,
  }
}

/** Where what was said in earlier turns comes from. */
const before = 'previous_response_id'

function* offeredBy(
  { tools }: ResponsesBody,
  earlier: readonly Fields[],
  input: readonly Fields[],
): Generator<Offered> {
  yield* offeredIn(tools ?? [], 'tools')
  yield* broughtBy(earlier, () => before)
  yield* broughtBy(input, (i) => `input.${i}`)
}

const nothingAsked = () => badRequest('input is empty: send a text or a list of items.', { param: 'input' })
