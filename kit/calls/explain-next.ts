import type { Call } from '../../kernel/call/call.ts'

/** Says in the trace why another attempt follows the one that ended with this error. */
export function explainNext({ trace }: Call, error: unknown, reason: string): void {
  const attempt = trace.attempts.find((one) => one.error === error)
  if (attempt) attempt.reasonNext = reason
}
