import type { Unmet } from '../../kit/calls/when.ts'
import {
  ClientGone,
  circuitOpen,
  type GatewayError,
  internalError,
  isGatewayError,
} from '../../kit/errors.ts'
import type { Call } from '../call/call.ts'
import type { SafetyFinding } from '../call/findings.ts'
import type { ChainHooks } from './batches.ts'
import type { Stage } from './hooks.ts'
import type { Meter } from './meter.ts'

/** One module in its place in the chain. */
export interface Entry {
  readonly id: string
  readonly stage: Stage
  readonly hooks: ChainHooks
  /** The type of what its detections find; `custom` without it. */
  readonly finds?: SafetyFinding['type'] | undefined
  /** What happens when the module itself fails: the call passes, or is refused. */
  readonly failure: 'open' | 'closed'
  /** Which calls it applies to; all of them without it. */
  readonly when: Unmet | undefined
  readonly meter: Meter
}

const decisions = Symbol('applies')

/**
 * Whether a module applies to a call, and is not left out for failing: decided once, when first asked, so that all its
 * hooks see the same calls. While it is idle nothing is decided.
 */
export function applies(entry: Entry, call: Call): boolean {
  return decision(entry, call) === true
}

/** Like `applies`; throws when the module is left out and its policy is to refuse then. */
export function engages(entry: Entry, call: Call): boolean {
  const decided = decision(entry, call)
  if (decided === 'tripped' && entry.failure === 'closed') throw tripped(entry, call)
  return decided === true
}

type Applies = boolean | 'tripped'
/** By what is one for all places of a module. */
type Decisions = Map<Meter, Applies>

function decision(entry: Entry, call: Call): Applies {
  const { idle } = entry.hooks
  if (!entry.when && !entry.meter.circuit.touched && !idle) return true
  const known = call.trace.slotOf<Decisions>(decisions)?.get(entry.meter)
  if (known !== undefined) return known
  if (idle && isIdle(entry)) return false
  const now = decide(entry, call)
  call.trace.slot<Decisions>(decisions, () => new Map()).set(entry.meter, now)
  return now
}

/** A module that fails over the question has something to do. */
export function isIdle({ hooks, meter }: Entry): boolean {
  try {
    return hooks.idle?.() === true
  } catch (error) {
    meter.fail('idle', error)
    return false
  }
}

function decide({ id, when, meter }: Entry, call: Call): Applies {
  const condition = when?.(call)
  if (condition !== undefined) {
    call.trace.skips.push({ module: id, condition })
    return false
  }
  if (meter.circuit.admits(call.trace.started, (ended) => watchEnd(call, ended))) return true
  call.trace.note(id, 'tripped', { reason: meter.circuit.reason ?? '' })
  return 'tripped'
}

function watchEnd({ cancel }: Call, ended: (whole: boolean) => void): void {
  cancel.onAbort((reason) => ended(!(reason instanceof ClientGone)))
}

/** The refusal of a call by a module that is left out. */
export function tripped({ id, meter }: Entry, call?: Call): GatewayError {
  meter.refusals += 1
  call?.trace.note(id, 'refused', { code: 'circuit_open', status: 503 })
  return circuitOpen(
    `The module ${id} keeps failing and is left out for now; its policy is to refuse calls then. An operator can ` +
      'reconfigure it or switch it off.',
    { type: 'module_tripped', module: id, retryAfterS: Math.max(1, Math.ceil(meter.circuit.waitMs / 1000)) },
  )
}

/**
 * Handles an error that a hook threw: a coded error is a refusal and goes on; any other is the module's own failure, which
 * refuses the call (`closed`) or is recorded and passed over (`open`: returns).
 */
export function handleFailure(entry: Entry, hook: string, error: unknown, call?: Call): void {
  if (isGatewayError(error)) throw refused(entry, error, call)
  entry.meter.fail(hook, error)
  call?.trace.note(entry.id, 'failed', { hook })
  if (entry.failure === 'closed') {
    throw internalError(`The module ${entry.id} failed, and its policy is to refuse calls.`, {
      module: entry.id,
      cause: error,
    })
  }
}

/** Counts a run of a module's hook, and puts it into the call's trace. `longestMs` is the longest part of it without a turn for others. */
export function recordRun({ id, meter }: Entry, hook: string, ms: number, call: Call, longestMs = ms): void {
  meter.run(hook, ms, longestMs)
  call.trace.timings.push({ module: id, hook, ms })
}

/** Keeps what a module made of a request, if it made anything of it. */
export function recordRewrite({ id }: Entry, before: Call, after: Call): void {
  if (before.request === after.request) return
  before.trace.rewrites.push({ module: id, of: 'request', before: before.request, after: after.request })
}

function refused(entry: Entry, error: GatewayError, call: Call | undefined): GatewayError {
  if (error.module === undefined && !Object.isFrozen(error)) {
    error.module = entry.id
    entry.meter.refuse(error.code)
    call?.trace.note(entry.id, 'refused', { code: error.code, status: error.status })
  }
  return error
}
