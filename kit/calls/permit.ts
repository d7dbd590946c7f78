import type { IncomingHttpHeaders } from 'node:http'
import type { Target } from '../../contract/provider.ts'
import { Call, type Principal } from '../../kernel/call/call.ts'
import type { Outcome } from '../../kernel/call/outcome.ts'
import { applies, type Entry, handleFailure } from '../../kernel/chain/entry.ts'
import { callContextOf } from '../../kernel/http/context.ts'
import type { Generation } from '../../kernel/plugin/generation.ts'
import type { ModelRequest, Operation } from '../canonical/forms.ts'
import { noUsage } from '../canonical/usage.ts'
import { newId } from '../id.ts'
import { Cancel, over } from '../work/cancel.ts'
import { newAttempt } from './attempt.ts'

/** An inquiry about a call that is not made, such as one whose tokens are counted. */
export interface Inquiry {
  readonly wire: string
  readonly operation: Operation
  readonly request: ModelRequest
  readonly principal: Principal
  readonly headers: IncomingHttpHeaders
  readonly ip: string
  /** Where it would go. */
  readonly target: Target
}

/**
 * Asks the modules of access and limits whether a call might be made, and whether it might go to its target; throws the error
 * of the module that refuses. To limits it is a call that used nothing. Resolves with the call that it would be; its trace has
 * the headers that the modules want on the answer.
 */
export async function permit(inquiry: Inquiry, generation: Generation): Promise<Call> {
  const { wire, operation, request, principal, target } = inquiry
  const context = callContextOf(inquiry.headers, inquiry.ip, generation.number)
  const call = new Call({ id: newId('tr_'), operation, wire, principal, request, context })
  call.trace.chain = generation.chain.facts
  const guards = generation.entries.filter(
    (entry) => (entry.stage === 'access' || entry.stage === 'limits') && applies(entry, call),
  )
  const asked: Entry[] = []
  try {
    for (const entry of guards) {
      asked.push(entry)
      await ask(entry, call)
    }
    const tried = generation.chain.attempt(newAttempt(call, target), call, {})
    if (tried) await tried
  } finally {
    const outcome = unused(call)
    for (const entry of asked) await settle(entry, outcome, call)
    call.cancel.abort(over)
  }
  return call.with({ cancel: new Cancel() })
}

async function ask(entry: Entry, call: Call): Promise<void> {
  try {
    await entry.hooks.request?.(call)
  } catch (error) {
    handleFailure(entry, 'request', error, call)
  }
}

async function settle(entry: Entry, outcome: Outcome, call: Call): Promise<void> {
  try {
    await entry.hooks.settled?.(outcome, call)
  } catch (error) {
    entry.meter.fail('settled', error)
  }
}

const unused = ({ trace }: Call): Outcome => ({
  ending: 'ok',
  status: 200,
  error: undefined,
  usage: noUsage,
  cost: undefined,
  saved: undefined,
  finishReason: undefined,
  provider: undefined,
  model: undefined,
  latencyMs: performance.now() - trace.started,
  ttftMs: undefined,
  upstreamMs: 0,
  body: () => undefined,
  json: () => undefined,
})
