import { badRequest, type ModelRequest } from '#kernel'
import { messagesOf } from './input.ts'
import { parametersOf } from './parameters.ts'
import type { Fields, Report, ResponsesBody } from './schema.ts'

/** The items of a body's input; a text is one message of the user. */
export function inputOf({ input, previous_response_id: previous }: ResponsesBody): readonly Fields[] {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  if (input && input.length > 0) return input
  if (input || previous != null) return []
  throw badRequest('input: there is nothing to answer; give a text or a list of items.', { param: 'input' })
}

/** The canonical request: instructions, what was said in earlier turns, the input. */
export function requestOf(
  body: ResponsesBody,
  earlier: readonly Fields[],
  input: readonly Fields[],
  report: Report,
): ModelRequest {
  const { instructions } = body
  const messages = [
    ...(instructions ? [{ role: 'system' as const, content: instructions }] : []),
    ...messagesOf(earlier, () => {}, 'previous_response_id'),
    ...messagesOf(input, report),
  ]
  if (messages.length === 0)
    throw badRequest('input: there is nothing to answer; give a text or a list of items.', { param: 'input' })
  return { ...parametersOf(body, report), messages }
}
