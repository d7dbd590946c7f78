import type { Arranged } from '#kernel'
import type { TraceRow } from '../row.ts'
import type { TraceExplanation } from './shapes.ts'

type Link = TraceExplanation['modules'][number]
type Told = Pick<Link, 'outcome' | 'reason' | 'condition'>

/** Hooks that leave a time whenever they are asked. */
const timed = ['request', 'around']

/** The result of the call at each module, in chain order; modules that are in no known arrangement come last. */
export function modulesOf(row: TraceRow, arrangement: readonly Arranged[]): Link[] {
  const known = new Set(arrangement.map(({ name }) => name))
  const left = [...row.timings, ...row.notes, ...(row.skips ?? [])].map(([name]) => name)
  const others = [...new Set(left)].filter((name) => !known.has(name))
  return [
    ...arrangement.map((module, i): Link => {
      const { name, version, stage } = module
      return { order: i + 1, name, version, phase: stage, ...toldOf(row, module), ...tracesOf(row, name) }
    }),
    ...others.map((name): Link => {
      return { order: null, name, version: null, phase: null, ...bareOf(row, name), ...tracesOf(row, name) }
    }),
  ]
}

function tracesOf(row: TraceRow, name: string): Pick<Link, 'mode' | 'us' | 'hooks' | 'verdicts' | 'changes'> {
  const hooks = row.timings.flatMap(([module, hook, us]) => (module === name ? [{ hook, us }] : []))
  return {
    mode: row.shadows?.includes(name) ? 'shadow' : 'enforce',
    us: hooks.reduce((sum, { us }) => sum + us, 0),
    hooks,
    verdicts: row.notes.flatMap(([module, verdict, detail]) =>
      module === name ? [{ verdict, detail: detail ? { ...detail } : null }] : [],
    ),
    changes: (row.changes ?? []).flatMap(([module, of, differences]) =>
      module === name ? differences.map((difference) => ({ of, ...difference })) : [],
    ),
  }
}

const bareOf = (row: TraceRow, name: string): Told =>
  skipOf(row, name) ?? { outcome: 'ran', reason: 'it left a trace' }

function skipOf({ skips }: TraceRow, name: string): Told | undefined {
  const skip = skips?.find(([module]) => module === name)
  return skip && { outcome: 'skipped', reason: `its condition ${skip[1]} was not met`, condition: skip[1] }
}

function toldOf(row: TraceRow, { name, state, hooks, problem, when }: Arranged): Told {
  const skip = skipOf(row, name)
  if (skip) return skip
  const verdict = (wanted: string): boolean =>
    row.notes.some(([module, verdict, , mode]) => !mode && module === name && verdict === wanted)
  if (verdict('tripped')) return { outcome: 'broken', reason: 'it kept failing and was left out' }
  if (row.timings.some(([module]) => module === name) || row.notes.some(([module]) => module === name))
    return { outcome: 'ran', reason: row.shadows?.includes(name) ? inShadow : whenMet(when) }
  if (state === 'disabled') return { outcome: 'off', reason: 'it was switched off' }
  if (state !== 'active' && state !== 'tripped')
    return { outcome: 'broken', reason: `${state}: ${problem ?? 'it could not be started'}` }
  if (hooks.length === 0) return { outcome: 'idle', reason: 'with its settings it had nothing to do' }
  if (hooks.some((hook) => timed.includes(hook)) && !passesBy(row, hooks))
    return { outcome: 'not_reached', reason: endOf(row) ?? 'the call ended before it' }
  return { outcome: 'passive', reason: 'it only listens, or there was nothing for it in this call' }
}

const inShadow = 'it ran in shadow and changed nothing'
const whenMet = (when: Arranged['when']): string =>
  when ? 'all its conditions were met' : 'it was on for all calls'

/** Whether a module may have been asked and let the call pass without a trace, as those do that wrap some calls only. */
const passesBy = (row: TraceRow, hooks: readonly string[]): boolean =>
  (hooks.includes('idle') || (hooks.includes('wraps') && !hooks.includes('request'))) &&
  (row.attempts.length > 0 || endOf(row) === undefined)

function endOf({ notes }: TraceRow): string | undefined {
  const end = notes.findLast(
    ([, verdict, , mode]) => !mode && (verdict === 'refused' || verdict === 'answered'),
  )
  return end && `${end[0]} ${end[1]} before the call got to it`
}
