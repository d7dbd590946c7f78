import type { Call } from '../call/call.ts'
import type { Completion } from '../call/canonical.ts'
import type { Outcome } from '../call/outcome.ts'
import { mergeParameters } from '../call/redacted.ts'
import type { Reply } from '../call/reply.ts'
import type { Attempt } from '../call/trace.ts'
import { type ChainHooks, looksElsewhere } from '../chain/batches.ts'
import type { Next } from '../chain/hooks.ts'
import { isGatewayError } from '../errors.ts'
import { replyWith } from '../stream/collect.ts'
import { type CallChange, viewOfOutcome } from './call-view.ts'
import type { Shape, Step } from './messages.ts'
import type { RemoteModule } from './remote-module.ts'
import { RemoteReveal } from './remote-reveal.ts'
import { RemoteStream } from './remote-stream.ts'
import { viewOfAttempt } from './trace-view.ts'

/** The hooks of a module in a worker, as the chain sees them: those that it has, and each leads there. */
export function remoteHooks(module: RemoteModule, shape: Shape): ChainHooks {
  const hooks = {
    ...(shape.pure && { pure: true }),
    ...(shape.admits && { admit: module.admit.bind(module) }),
    ...(shape.requests && { request: (call: Call) => requested(module, call, shape) }),
    ...(shape.arounds && { around: (call: Call, next: Next) => module.around(call, next) }),
    ...(shape.attempt && {
      attempt: async (attempt: Attempt, call: Call, headers: Record<string, string>) => {
        const added = await module.run(call, (view, { errors }) => {
          return { do: 'attempt', call: view, attempt: viewOfAttempt(attempt, errors), headers }
        })
        Object.assign(headers, added)
      },
    }),
    ...(shape.attempted && {
      attempted: async (attempt: Attempt, call: Call) => {
        await module.run(call, (view, { errors }) => {
          return { do: 'attempted', call: view, attempt: viewOfAttempt(attempt, errors) }
        })
      },
    }),
    ...(shape.replies && {
      reply: async (body: Completion, call: Call) =>
        (await module.run(call, (view) => ({ do: 'reply', call: view, body }))) as Completion | undefined,
    }),
    ...(shape.streams && { stream: (call: Call) => new RemoteStream(module, call) }),
    ...(shape.reveals && { reveal: new RemoteReveal(module) }),
    ...(shape.settles && {
      settled: async (outcome: Outcome, call: Call) => {
        await module.run(
          call,
          (view, known) => {
            known.isSettled = true
            return {
              do: 'settled',
              call: view,
              outcome: viewOfOutcome(outcome, known.errors, module.grants.reads),
            }
          },
          true,
        )
      },
    }),
  }
  return { ...hooks, [looksElsewhere]: shape.detects } as ChainHooks
}

async function requested(
  module: RemoteModule,
  call: Call,
  { detects }: Shape,
): Promise<Call | Reply | undefined> {
  try {
    const step = (await module.run(call, (view) => ({ do: 'request', call: view }))) as Step
    if (!step) return undefined
    return 'body' in step ? replyWith(call, step.body) : changedCall(module, call, step.change)
  } catch (error) {
    // What was found is known over there alone: nothing of the request can be recorded.
    if (detects && isGatewayError(error)) call.trace.mayRecord(undefined)
    throw error
  }
}

/** The call with what the module changed of it. */
export function changedCall(module: RemoteModule, call: Call, { fields, ...change }: CallChange): Call {
  const { context, timeouts, cancel } = change
  const seen = module.calls.seen(call)
  const known = module.calls.find(call.id)
  let changed = Object.keys(fields).length === 0 ? seen : seen.withRequest(fields)
  if (context || timeouts || (cancel !== undefined && known)) {
    changed = changed.with({
      ...(context && { context }),
      ...(timeouts && { timeouts }),
      ...(cancel !== undefined && known && { cancel: module.calls.part(known, cancel) }),
    })
  }
  return seen === call ? changed : mergeParameters(call, seen, changed)
}
