import type { Target } from '../contract/provider.ts'
import type { Call } from './call.ts'
import type { Attempt } from './trace.ts'

/** Begins an attempt that had to wait, in which time others may have begun. */
export function beginAttempt(call: Call, attempt: Attempt): void {
  attempt.n = call.trace.attempts.length + 1
  attempt.startedAt = performance.now()
}

/** An attempt that is about to be made; the caller puts it on the trace once no module objects. */
export function newAttempt(call: Call, { provider, model, key }: Target): Attempt {
  return {
    n: call.trace.attempts.length + 1,
    identity: {},
    provider: provider.name,
    model,
    keyHint: key?.hint,
    ownKey: key?.owner === 'user',
    startedAt: performance.now(),
    status: undefined,
    latencyMs: undefined,
    error: undefined,
    reasonNext: undefined,
    usage: undefined,
  }
}
