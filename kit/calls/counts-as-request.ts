import type { Outcome } from '../../kernel/call/outcome.ts'
import type { Trace } from '../../kernel/call/trace.ts'

/**
 * Whether a call counts as a request of its caller: a provider was asked, whatever came of it, or the call was answered without
 * one, such as from a cache. What ended before either is none, by whomever it was ended.
 */
export const countsAsRequest = (
  { status }: Pick<Outcome, 'status'>,
  { trace }: { readonly trace: Pick<Trace, 'attempts'> },
): boolean => status < 400 || trace.attempts.some(({ isSent }) => isSent)
