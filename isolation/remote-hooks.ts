import type { Call } from '../kernel/call/call.ts'
import type { Reply } from '../kernel/call/reply.ts'
import { type ChainHooks, looksElsewhere, searchesElsewhere } from '../kernel/chain/batches.ts'
import type { Next } from '../kernel/chain/hooks.ts'
import { replyWith } from '../kernel/stream/collect.ts'
import { isGatewayError } from '../kit/errors.ts'
import { newId } from '../kit/id.ts'
import { WorkerLost } from '../workers/supervision.ts'
import { lostMidway } from './chunk-transit.ts'
import type { Shape } from './protocol.ts'
import type { RemoteModule } from './remote-module.ts'
import { remoteRewriter } from './remote-rewrite.ts'
import { RemoteRun } from './remote-run.ts'

/** The hooks of a module in a worker, as the chain sees them: those that it has, and each leads there. */
export function remoteHooks(module: RemoteModule, shape: Shape): ChainHooks {
  const hooks: ChainHooks = {
    pure: true,
    async admit(visit) {
      if (!module.worker.isReady) await module.started()
      await module.worker.call('admit', visit)
      module.calls.passed += 1
    },
    request: (call) => request(module, call, shape),
    around: (call, next) => around(module, call, next),
    async attempt(attempt, call, headers) {
      const added = await module.run('attempt', call, (known) => ({
        attempt: known.viewOfAttempt(attempt),
        headers,
      }))
      Object.assign(headers, added)
    },
    attempted: (attempt, call) =>
      module.run('attempted', call, (known) => ({ attempt: known.viewOfAttempt(attempt) })),
    ...remoteRewriter(module, 'stream'),
    reveal: remoteRewriter(module, 'reveal'),
    settled: (outcome, call) =>
      module.run('settled', call, (known) => {
        known.isSettled = true
        return { outcome: known.viewOfOutcome(outcome) }
      }),
  }
  const own = Object.entries(hooks).filter(([name]) => shape.hooks.includes(name))
  return {
    ...Object.fromEntries(own),
    // Its value is not known here, so its answers are not shared with other calls.
    ...(shape.hooks.includes('varies') && { varies: () => newId('vary_') }),
    ...(shape.hooks.includes('detect') && { [searchesElsewhere]: remoteRewriter(module, 'search') }),
    [looksElsewhere]: shape.detects,
  }
}

function around(module: RemoteModule, call: Call, next: Next): Promise<Reply> {
  const failed = (error: unknown): void => {
    if (!(error instanceof WorkerLost)) throw error
    if (module.failure === 'closed') throw lostMidway(module.id)
  }
  const varies = call.trace.chain?.variesIn?.(call, 'cache')
  return new RemoteRun(module, call, next).begin('around', { varies }, failed)
}

async function request(
  module: RemoteModule,
  call: Call,
  { detects }: Shape,
): Promise<Call | Reply | undefined> {
  try {
    const step = await module.run('request', call, () => ({}))
    if (!step) return undefined
    return 'body' in step ? replyWith(call, step.body) : module.calls.changed(call, step.change)
  } catch (error) {
    // Only the worker knows its findings, so nothing of the request can be recorded.
    if (detects && isGatewayError(error)) call.trace.mayRecord(undefined)
    throw error
  }
}
