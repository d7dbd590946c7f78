import { type Entry, handleFailure, tripped } from './entry.ts'
import type { Visit } from './hooks.ts'

/** Asks a module about a request at the door, unless it is left out; throws what it refuses with. */
export function askAdmit(entry: Entry, visit: Visit): void | Promise<void> {
  if (isLeftOut(entry, visit)) return
  try {
    const asked: unknown = entry.hooks.admit!(visit)
    if (asked instanceof Promise) {
      return entry.meter.deadlines.within(asked).catch((error) => handleFailure(entry, 'admit', error))
    }
    if (!entry.hooks.request) entry.meter.circuit.succeeded()
  } catch (error) {
    handleFailure(entry, 'admit', error)
  }
}

/**
 * Whether a module that failed too often is passed over at the door; throws when its policy is to refuse. An admin gets in to
 * the management API, to repair the module.
 */
function isLeftOut(entry: Entry, { isCall, principal }: Visit): boolean {
  const { circuit } = entry.meter
  if (circuit.waitMs === 0) return false
  const isRepair = !isCall && (!principal || principal.type === 'admin')
  if (entry.failure === 'closed' && !isRepair) throw tripped(entry)
  return true
}
