import type { Call } from '#kernel'
import type { Wanted } from './schema.ts'

/** The call, asking for the form that its answer must have. The provider's protocol translates that for the provider. */
export function asking(call: Call, { format }: Wanted): Call {
  const { response_format: own } = call.request
  if (own === format) return call
  if (own) call.trace.changeParam('response_format')
  return call.withRequest({ response_format: format })
}

/** The call again, with the answer that did not fit and what was wrong with it. */
export function askingAgain(call: Call, answer: string, problems: readonly string[]): Call {
  return call.withRequest({
    messages: [
      ...(call.request.messages ?? []),
      ...(answer === '' ? [] : [{ role: 'assistant', content: answer }]),
      {
        role: 'user',
        content: `That does not fit the schema:\n${problems.join('\n')}\nAnswer again with the corrected JSON value and nothing else.`,
      },
    ],
  })
}
