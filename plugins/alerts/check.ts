import type { Change } from './change.ts'
import { type Rule, type Verdict, wholeGroup } from './rule.ts'
import type { State } from './rule-fields.ts'
import { emptyReading, type Reading } from './window.ts'
import { messageOf } from './wording.ts'

/** What is known of a group before a check. */
export interface Known {
  readonly state: 'firing' | 'over'
  /** Milliseconds since the epoch. */
  readonly fired_at: number
  readonly told: boolean
}

/** The circumstances of a check. */
export interface Circumstances {
  readonly now: number
  readonly cooldownMs: number
  readonly isSilenced: boolean
  /** Of the rule at the check before. */
  readonly stateBefore: State
  /** Undefined for a group that has not fired lately. */
  known(group: string): Known | undefined
}

/** What a check of a group has found. */
export interface Checked extends Reading {
  readonly verdict: Verdict
  /** Undefined where nothing changes. */
  readonly change: Change | undefined
}

/** The groups that a check looks at; a rule that does not group has one also while nothing is called. */
export function groupsOf(rule: Rule): readonly string[] {
  const names = rule.groups.names()
  return rule.row.group_by === 'none' && names.length === 0 ? [wholeGroup] : names
}

/** Compares a group with its rule: this alone decides what fires, in live calls as in a preview. */
export function checkGroup(rule: Rule, group: string, circumstances: Circumstances): Checked {
  const { now } = circumstances
  const reading = rule.groups.read(group, now) ?? emptyReading(rule.metric)
  const verdict = rule.judge(reading)
  return { ...reading, verdict, change: changeOf(rule, group, reading, verdict, circumstances) }
}

function changeOf(
  { row }: Rule,
  group: string,
  { value }: Reading,
  verdict: Verdict,
  { now, cooldownMs, isSilenced, stateBefore, known }: Circumstances,
): Change | undefined {
  const before = known(group)
  if (before?.state === 'firing') {
    if (verdict !== 'breach') {
      const message = messageOf(row, shownGroup(group), value)
      return { kind: 'resolve', alert: row.id, group, value, state: verdict, message }
    }
    return before.told || isSilenced ? undefined : { kind: 'tell', alert: row.id, group }
  }
  const mayFire = !before || now - before.fired_at >= cooldownMs
  if (verdict !== 'breach' || value === undefined || !mayFire) return undefined
  const state = stateBefore === 'no_data' ? 'no_data' : 'ok'
  return { kind: 'fire', rule: row, group, value, state, isSilenced }
}

export const shownGroup = (group: string): string | null => (group === wholeGroup ? null : group)
