import type { Call } from '../../kernel/call/call.ts'
import type { ChainHooks } from '../../kernel/chain/batches.ts'
import { type Entry, isIdle } from '../../kernel/chain/entry.ts'
import { inspectRequest } from '../../kernel/chain/inspect.ts'
import { Meter } from '../../kernel/chain/meter.ts'
import { toGatewayError } from '../../kernel/to-gateway-error.ts'
import type { GatewayError } from '../errors.ts'
import { over } from '../work/cancel.ts'
import type { Condition } from './when.ts'

/** The predicted result of a call at one module. */
export interface DryStep {
  /** The module's id. */
  readonly module: string
  /** Its hooks under its settings. */
  readonly hooks: ChainHooks
  readonly outcome: 'runs' | 'fails' | 'skipped' | 'tripped' | 'refuses' | 'answers' | 'not_reached'
  /** With `fails`: how, where calls pass without it then. */
  readonly fault?: string
  /** With `skipped`: the first condition of its `when` that is not met. */
  readonly condition?: Condition
  /** Whether its request hooks were run: what it would do to the request is known then, and only then. */
  readonly known: boolean
  readonly before: Call
  readonly after: Call
  readonly error?: GatewayError
}

/**
 * Takes a call down these entries without making it: conditions are tested, and modules that say they are `pure` are
 * run, on a meter that is thrown away. Nothing is counted, stored or sent. The call must be made for this alone; it is
 * over then.
 */
export async function dryRun(entries: readonly Entry[], call: Call): Promise<DryStep[]> {
  const steps: DryStep[] = []
  let at = call
  let isDecided = false
  for (const entry of entries) {
    const step: DryStep = isDecided
      ? { ...untouched(entry, at), outcome: 'not_reached', known: true }
      : await stepAt(entry, at)
    steps.push(step)
    at = step.after
    isDecided ||= step.outcome === 'refuses' || step.outcome === 'answers'
  }
  call.cancel.abort(over)
  return steps
}

const untouched = ({ id, hooks }: Entry, call: Call) => ({ module: id, hooks, before: call, after: call })

async function stepAt(entry: Entry, call: Call): Promise<DryStep> {
  const same = untouched(entry, call)
  if (isIdle(entry)) return { ...same, hooks: {}, outcome: 'runs', known: true }
  const condition = entry.when?.(call)
  if (condition !== undefined) return { ...same, outcome: 'skipped', condition, known: true }
  if (entry.meter.circuit.state !== 'closed') {
    const outcome = entry.failure === 'closed' ? 'refuses' : 'tripped'
    return { ...same, outcome, known: true }
  }
  const { pure = false, request, detect } = entry.hooks
  if (!request && !detect?.request) return { ...same, outcome: 'runs', known: true }
  if (!pure) return { ...same, outcome: 'runs', known: false }
  try {
    const meter = new Meter()
    const result = await inspectRequest({ ...entry, meter }, call, () => [])
    const [failure] = meter.events
    if (failure) return { ...same, outcome: 'fails', known: true, fault: failure.detail }
    if (result && 'kind' in result) return { ...same, outcome: 'answers', known: true }
    return { ...same, outcome: 'runs', known: true, after: result ?? call }
  } catch (error) {
    return { ...same, outcome: 'refuses', known: true, error: toGatewayError(error) }
  }
}
