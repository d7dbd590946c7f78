import type { Call } from './call.ts'
import { type GatewayError, internalError, isGatewayError } from './errors.ts'
import type { Hooks, Stage } from './hooks.ts'
import type { Meter } from './meter.ts'

/** One module in its place in the chain. */
export interface Entry {
  readonly id: string
  readonly stage: Stage
  readonly hooks: Hooks
  /** What happens when the module itself fails: the call passes, or is refused. */
  readonly failure: 'open' | 'closed'
  /** Which calls it applies to; all of them without it. */
  readonly when: ((call: Call) => boolean) | undefined
  readonly meter: Meter
}

const decisions = Symbol('applies')

/** Whether a module applies to a call: decided once, when first asked, so that all its hooks see the same calls. */
export function applies(entry: Entry, call: Call): boolean {
  if (!entry.when) return true
  const decided = call.trail.slot(decisions, () => new Map<Entry, boolean>())
  const known = decided.get(entry) ?? entry.when(call)
  decided.set(entry, known)
  return known
}

/**
 * What a hook's throw means: a coded error is a refusal and goes on; anything else is the module's own failure,
 * which refuses the call (`closed`) or is recorded and passed over (`open`: returns).
 */
export function failed(entry: Entry, hook: string, error: unknown, call?: Call): void {
  if (isGatewayError(error)) throw refused(entry, error, call)
  entry.meter.fail(hook, error)
  call?.trail.note(entry.id, 'failed', { hook })
  if (entry.failure === 'closed') {
    throw internalError(`The module ${entry.id} failed, and its policy is to refuse then.`, {
      module: entry.id,
      cause: error,
    })
  }
}

function refused(entry: Entry, error: GatewayError, call: Call | undefined): GatewayError {
  if (error.module === undefined) {
    error.module = entry.id
    entry.meter.refuse(error.code)
    call?.trail.note(entry.id, 'refused', { code: error.code, status: error.status })
  }
  return error
}
