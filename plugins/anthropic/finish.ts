import type { FinishReason } from '#kernel'

const reasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

export interface Stop {
  readonly stop_reason?: string | null
  readonly stop_sequence?: string | null
  readonly stop_details?: unknown
}

/** Why an answer ended, in OpenAI's words, and beside it in the service's own. */
export function finishOf(
  { stop_reason: native, stop_sequence: sequence, stop_details: details }: Stop,
  schemaAsTool: boolean,
) {
  const reason = native ? (reasons[native] ?? 'stop') : null
  return {
    finish_reason: schemaAsTool && reason === 'tool_calls' ? ('stop' as const) : reason,
    ...(native && { native_finish_reason: native }),
    ...(sequence && { stop_sequence: sequence }),
    ...(details !== undefined && details !== null && { stop_details: details }),
  }
}
