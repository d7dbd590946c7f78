import type { FinishReason, Target } from '#kernel'
import { brief, protocolError } from '#provider'

const reasons: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({
    COMPLETE: 'stop',
    STOP_SEQUENCE: 'stop',
    MAX_TOKENS: 'length',
    TOOL_CALL: 'tool_calls',
  }),
)

/** Why an answer ended. Throws for the ends that are failures, under a good status though they come. */
export function finishOf(native: string, said: string | undefined, target: Target): FinishReason {
  if (native === 'TIMEOUT') {
    throw protocolError(target, 'took too long for the answer and gave up', {
      retryable: true,
      native,
      type: 'timeout',
      status: 504,
    })
  }
  if (native === 'ERROR') {
    const what = `failed in the middle of the answer${said ? `: ${brief(said, 500)}` : ''}`
    throw protocolError(target, what, { retryable: true, native })
  }
  return reasons.get(native) ?? 'content_filter'
}

/** Whether an answer with this end was cut off: what is missing at its end was never said. */
export const isCut = (native: string): boolean => (reasons.get(native) ?? 'length') === 'length'
