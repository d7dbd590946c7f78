import type { Completion } from '#kernel'
import { messageTexts } from '#kit'
import type { Said } from './said.ts'

/** The answer of a model in the form in which it is judged; a failure for a body that has none. */
export function saidOf({ choices }: Completion): Said {
  const choice = choices?.[0]
  const message = choice?.message
  if (!choice || !message || typeof message !== 'object') return noAnswer
  if ((choice.finish_reason as string | null) === 'content_filter')
    return { kind: 'withheld', by: 'provider' }
  const { refusal, tool_calls: calls } = message
  return {
    kind: 'answered',
    text: messageTexts(message).join('\n'),
    toolCalls: (calls ?? []).flatMap(({ function: called }) =>
      called ? [{ name: String(called.name), arguments: String(called.arguments) }] : [],
    ),
    refusal: typeof refusal === 'string' && refusal !== '' ? refusal : undefined,
    finishReason: choice.finish_reason ?? undefined,
  }
}

export const noAnswer: Said = {
  kind: 'failed',
  code: 'no_answer',
  message: 'The target gave nothing that is an answer of a model.',
  mayPass: false,
}

export const tookTooLong: Said = {
  kind: 'failed',
  code: 'timeout',
  message: 'The target did not answer in time.',
  mayPass: true,
}
