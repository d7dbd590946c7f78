import type { Call } from '../call/call.ts'
import type { Candidate, TargetHooks } from '../contract/routing.ts'
import { type Entry, engages, handleFailure } from './entry.ts'

/** The hooks of these modules for the places that a call may go to; undefined when none of them has one. */
export function targetHooksOf(entries: readonly Entry[]): TargetHooks | undefined {
  const judging = entries.filter(({ hooks }) => hooks.eligible)
  const preferring = entries.filter(({ hooks }) => hooks.prefers)
  if (judging.length + preferring.length === 0) return undefined
  return {
    refusal(target, call) {
      for (const entry of judging) {
        const reason = engages(entry, call) ? reasonOf(entry, target, call) : undefined
        if (reason !== undefined) return { module: entry.id, reason }
      }
      return undefined
    },
    preference: (target, call) =>
      preferring.reduce((sum, entry) => sum + (engages(entry, call) ? weightOf(entry, target, call) : 0), 0),
  }
}

function reasonOf(entry: Entry, target: Candidate, call: Call): string | undefined {
  try {
    const reason: unknown = entry.hooks.eligible!(target, call)
    if (reason === undefined || typeof reason === 'string') return reason
    throw new TypeError(`eligible must answer with a reason or nothing, and answered with ${typeof reason}`)
  } catch (error) {
    handleFailure(entry, 'eligible', error, call)
    return undefined
  }
}

function weightOf(entry: Entry, target: Candidate, call: Call): number {
  try {
    const weight: unknown = entry.hooks.prefers!(target, call)
    if (typeof weight === 'number' && Number.isFinite(weight)) return weight
    throw new TypeError('prefers must answer with a number')
  } catch (error) {
    handleFailure(entry, 'prefers', error, call)
    return 0
  }
}
