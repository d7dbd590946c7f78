import type { FinishReason } from '#kernel'

/** Why a candidate ended, as clients know it. */
const reasons: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({ STOP: 'stop', MAX_TOKENS: 'length' }),
)

/** Ends that are failures of the model, and whether another try may do better. */
const failures: ReadonlyMap<string, { readonly retryable: boolean }> = new Map(
  Object.entries({
    MALFORMED_FUNCTION_CALL: { retryable: true },
    MALFORMED_RESPONSE: { retryable: true },
    UNEXPECTED_TOOL_CALL: { retryable: true },
    TOO_MANY_TOOL_CALLS: { retryable: true },
    MISSING_THOUGHT_SIGNATURE: { retryable: false },
  }),
)

export const failureOf = (native: string): { readonly retryable: boolean } | undefined => failures.get(native)

/**
 * Gemini says STOP when it calls tools, too. Every end except its own and the limit's was imposed on the model: SAFETY,
 * RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, IMAGE_SAFETY, LANGUAGE, OTHER …
 */
export function finishOf(native: string, calls: boolean): FinishReason {
  const reason = reasons.get(native) ?? 'content_filter'
  return reason === 'stop' && calls ? 'tool_calls' : reason
}
