import type { Target } from '../../contract/provider.ts'
import type { Attempt } from '../../kernel/call/attempt.ts'
import type { Call } from '../../kernel/call/call.ts'

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
