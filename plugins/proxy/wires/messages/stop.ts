import type { ChoiceDelta, FinishReason } from '#kernel'

/** The wire's reasons, and what each is in OpenAI's words. */
const meanings: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** The content of an answer besides texts that shows why it ended. */
interface Holds {
  /** Calls of tools: some providers report a mere end where the request named the tool to call. */
  readonly calls: boolean
  /** The words of a refusal, which OpenAI tells by these alone. */
  readonly refusal: boolean
}

/** Why an answer ended. The provider's own word counts while no module has changed its meaning since. */
export function stopOf(
  {
    finish_reason: said,
    native_finish_reason: native,
    stop_sequence: sequence,
    stop_details: details,
  }: Partial<ChoiceDelta>,
  { calls, refusal }: Holds,
) {
  const isMereEnd = (said ?? 'stop') === 'stop'
  const reason = isMereEnd && calls ? 'tool_calls' : isMereEnd && refusal ? 'content_filter' : said
  const own = typeof native === 'string' && meanings[native] === reason ? native : undefined
  return {
    stop_reason: own ?? reasons[reason ?? 'stop'] ?? reasons.stop,
    stop_sequence: own === 'stop_sequence' && typeof sequence === 'string' ? sequence : null,
    ...(own && details !== undefined && { stop_details: details }),
  }
}
