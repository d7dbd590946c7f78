import type { FinishReason, Target } from '#kernel'
import { protocolError } from '#provider'
import type { Stop } from './wire.ts'

const reasons: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool_calls',
    guardrail_intervened: 'content_filter',
    content_filtered: 'content_filter',
    refusal: 'content_filter',
  }),
)

/** Why an answer ended, in OpenAI's words, and beside it in Bedrock's. Throws for an end that is a failure of the model. */
export function finishOf(
  { stopReason: native, additionalModelResponseFields: more }: Stop,
  schemaAsTool: boolean,
  target: Target,
) {
  if (!native) throw protocolError(target, 'did not say why its answer ended', { retryable: true })
  if (native.startsWith('malformed_')) {
    throw protocolError(target, `ended an answer with an unknown reason (${native})`, {
      retryable: true,
      native,
    })
  }
  const reason = reasons.get(native) ?? 'stop'
  const sequence = more?.stop_sequence
  return {
    finish_reason: schemaAsTool && reason === 'tool_calls' ? ('stop' as const) : reason,
    native_finish_reason: native,
    ...(typeof sequence === 'string' && { stop_sequence: sequence }),
  }
}
