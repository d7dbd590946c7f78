import type { FinishReason } from '#kernel'

/** The wire's reasons, and each one's counterpart in OpenAI's words; any other reason was imposed on the model. */
const meanings: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({ STOP: 'stop', MAX_TOKENS: 'length' }),
)
const imposed =
  /^(?:SAFETY|RECITATION|LANGUAGE|OTHER|BLOCKLIST|PROHIBITED_CONTENT|SPII|NO_IMAGE|IMAGE_[A-Z]+(?:_[A-Z]+)*|MODEL_ARMOR)$/

const reasons: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  function_call: 'STOP',
  content_filter: 'SAFETY',
}

/** Why a candidate ended. The provider's own word counts where it is one of these, and no module has changed its meaning. */
export function finishOf(reason: FinishReason, native: unknown): string {
  if (typeof native !== 'string') return reasons[reason]
  const meant = meanings.get(native) ?? (imposed.test(native) ? 'content_filter' : undefined)
  const isOwn = meant === reason || (meant === 'stop' && reasons[reason] === 'STOP')
  return isOwn ? native : reasons[reason]
}
