import type { Call } from '../call/call.ts'
import type { Reply } from '../call/reply.ts'
import { type ChainHooks, looksElsewhere } from '../chain/batches.ts'
import { isGatewayError } from '../errors.ts'
import { newId } from '../id.ts'
import { replyWith } from '../stream/collect.ts'
import type { HookName, Shape } from './protocol.ts'
import type { RemoteModule } from './remote-module.ts'
import { RemoteReveal, RemoteStream } from './remote-stream.ts'
import { viewOfAttempt } from './trace-sync.ts'

/** The hooks of a module in a worker, as the chain sees them: those that it has, and each leads there. */
export function remoteHooks(module: RemoteModule, shape: Shape): ChainHooks {
  const hooks: Required<Pick<ChainHooks, HookName>> = {
    pure: true,
    admit: (visit) => module.admit(visit),
    request: (call) => request(module, call, shape),
    around: (call, next) => module.around(call, next),
    async attempt(attempt, call, headers) {
      const added = await module.run('attempt', call, (known) => {
        return { attempt: viewOfAttempt(attempt, known), headers }
      })
      Object.assign(headers, added)
    },
    attempted: (attempt, call) =>
      module.run('attempted', call, (known) => ({ attempt: viewOfAttempt(attempt, known) })),
    reply: (body, call) => module.run('reply', call, () => ({ body })),
    stream: (call) => new RemoteStream(module, call),
    reveal: new RemoteReveal(module),
    settled: (outcome, call) => module.settled(outcome, call),
  }
  const own = Object.entries(hooks).filter(([name]) => shape[name as HookName])
  return {
    ...Object.fromEntries(own),
    // Its value is not known here, so its answers are not shared with other calls.
    ...(shape.varies && { varies: () => newId('vary_') }),
    [looksElsewhere]: shape.detects,
  }
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
