import type { Context, PulseSettings, TraceReader } from '#kernel'
import { detach, takingTurns, Writes } from '#kit'
import type { Change } from './change.ts'
import { checkGroup, groupsOf } from './check.ts'
import type { Firings, Standing } from './firings.ts'
import type { Room } from './groups.ts'
import { refill } from './refill.ts'
import { Rule } from './rule.ts'
import type { RuleRow } from './rule-fields.ts'
import type { Sample } from './sample.ts'
import type { Silences } from './silences.ts'
import type { Watched } from './watched.ts'

/** Traces are in reach this many ticks after their calls were counted, also those of other threads. */
const ticksUntilFilled = 2
/** Groups that change in one transaction. */
const mostChanges = 100

const goneMessage = 'The rule was switched off or deleted.'
const changedMessage = 'The rule was changed, and does not watch this group any more.'

interface Parts {
  readonly firings: Firings
  readonly silences: Silences
  readonly traces: () => TraceReader
  readonly log: Context<unknown>['log']
  readonly signal: AbortSignal
}

/** Counts calls for all rules that are on, and has them fire and resolve. Lives in the first thread, which counts for all. */
export class Evaluation {
  readonly #parts: Parts
  readonly #room: Room = { windows: 0 }
  readonly #watched = new Map<string, Watched>()
  readonly #checks = new Writes()
  #filling: Promise<void> | undefined
  #lastCheck = Number.NEGATIVE_INFINITY
  #isPaused = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether calls are to be counted at all. */
  get isWatching(): boolean {
    return this.#watched.size > 0
  }

  get(alert: string): Watched | undefined {
    return this.#watched.get(alert)
  }

  /** Takes in a rule, or a change of one; undefined for one that is gone. What its windows hold stays if they fit. */
  take(id: string, row: RuleRow | undefined): void {
    const known = this.#watched.get(id)
    if (row?.enabled && known && shapeOf(known.rule.row) === shapeOf(row)) {
      known.rule = known.rule.with(row)
      return
    }
    known?.rule.groups.clear()
    this.#watched.delete(id)
    if (!row?.enabled) return
    const rule = new Rule(row, this.#room)
    this.#watched.set(id, {
      rule,
      fed: new Set(),
      ticks: 0,
      isSettled: false,
      state: 'no_data',
      lastValue: undefined,
    })
  }

  count(sample: Sample, mostGroups: number): void {
    for (const watched of this.#watched.values()) {
      watched.fed?.add(sample.id)
      watched.rule.take(sample, mostGroups)
    }
  }

  /** Once a second: fills new rules with the past, and checks all when it is time. */
  async tick(now: number, pulse: PulseSettings | undefined): Promise<void> {
    if (!pulse) return this.#pause()
    this.#isPaused = false
    const fresh = [...this.#watched.values()].filter(({ fed }) => fed)
    for (const one of fresh) one.ticks += 1
    const due = fresh.filter(({ ticks }) => ticks >= ticksUntilFilled)
    if (due.length > 0) this.#fill(due, now, pulse)
    if (performance.now() - this.#lastCheck < pulse.everyMs) return
    this.#lastCheck = performance.now()
    await this.betweenChecks(() => this.check(now, pulse))
  }

  /** Does something while no rule is checked. */
  betweenChecks(work: () => Promise<void>): Promise<void> {
    return this.#checks.run('checks', work)
  }

  /** Forgets the calls of a user in rules that group by user. */
  forgetUser(user: string): void {
    for (const { rule } of this.#watched.values()) if (rule.row.group_by === 'user') rule.groups.forget(user)
  }

  /** Compares all groups with their rules. */
  async check(now: number, pulse: PulseSettings): Promise<void> {
    for (const [id, watched] of this.#watched)
      if (!watched.fed) await this.#checkRule(id, watched, now, pulse)
    await this.#endOthers(now)
  }

  /** Begins to read the calls of before for new rules; other rules are checked meanwhile. */
  #fill(due: readonly Watched[], now: number, { mostGroups }: PulseSettings): void {
    if (this.#filling) return
    const { traces, log, signal } = this.#parts
    const filling = refill(due, { traces: traces(), now, mostGroups, signal, log })
    this.#filling = filling
      .catch((err: unknown) => {
        if (!signal.aborted) log.error({ err }, 'alert rules could not read the calls of the past')
        for (const { rule } of due) this.#restart(rule.row)
      })
      .finally(() => {
        this.#filling = undefined
      })
    detach('alert rules that read the past', this.#filling)
  }

  async #checkRule(id: string, watched: Watched, now: number, pulse: PulseSettings): Promise<void> {
    const { firings, silences } = this.#parts
    const { rule } = watched
    const cooldownMs = cooldownOf(rule.row, pulse)
    await this.#settle(id, watched, now)
    for (const { group } of firings.firing(id)) rule.groups.hold(group, now)
    const circumstances = {
      now,
      cooldownMs,
      isSilenced: silences.holds(id, now),
      stateBefore: watched.state,
      known: (group: string) => firings.get(id, group),
    }
    const rest = takingTurns()
    const seen = new Seen(rule.row)
    const changes: Change[] = []
    for (const group of groupsOf(rule)) {
      const checked = checkGroup(rule, group, circumstances)
      seen.add(checked)
      if (checked.change) changes.push(checked.change)
      else rule.groups.tidy(group)
      await rest()
    }
    for (let at = 0; at < changes.length; at += mostChanges) {
      if (this.#watched.get(id)?.rule !== rule) return
      const part = changes.slice(at, at + mostChanges)
      await firings.make(part, now)
      for (const change of part) {
        if (change.kind === 'fire') rule.groups.hold(change.group, now)
        if (change.kind === 'resolve') rule.groups.letGo(change.group)
      }
    }
    await firings.tidy(id, cooldownMs, now)
    watched.lastValue = seen.value
    watched.state = firings.firing(id).length > 0 ? 'firing' : seen.state
  }

  /**
   * What fires of groups that a rule does not watch is over, since it was changed: such a group stays without calls, which a rule
   * that tells of few calls would take for a breach for ever. Of a changed rule, and after a start, once.
   */
  async #settle(id: string, watched: Watched, now: number): Promise<void> {
    if (watched.isSettled) return
    const { firings } = this.#parts
    const { rule } = watched
    const ends: Change[] = []
    for (const standing of firings.firing(id)) {
      const grouping = await firings.groupingOf(standing)
      if (grouping !== undefined && !rule.watches(standing.group, grouping))
        ends.push(endOf(standing, changedMessage))
    }
    if (this.#watched.get(id) !== watched) return
    await firings.make(ends, now)
    watched.isSettled = true
  }

  /** What fires of rules that are gone is over. */
  async #endOthers(now: number): Promise<void> {
    const { firings } = this.#parts
    for (const alert of firings.alerts) {
      if (this.#watched.has(alert)) continue
      const ends = firings.firing(alert).map((standing) => endOf(standing, goneMessage))
      await firings.make(ends, now)
      await firings.tidy(alert, 0, now)
    }
  }

  /** While nothing is counted the windows say nothing: they begin anew. */
  #pause(): void {
    if (this.#isPaused) return
    this.#isPaused = true
    // Of a copy: a rule that begins anew stands behind all others, and would come again for ever.
    for (const { rule } of [...this.#watched.values()]) this.#restart(rule.row)
  }

  #restart(row: RuleRow): void {
    const known = this.#watched.get(row.id)
    if (known?.rule.row !== row) return
    this.take(row.id, undefined)
    this.take(row.id, row)
  }
}

/** What a check has seen of all groups of a rule: the value that is nearest to a breach, and whether there is data. */
class Seen {
  value: number | undefined
  state: 'ok' | 'no_data' = 'no_data'
  readonly #isUpper: boolean

  constructor({ condition }: RuleRow) {
    this.#isUpper = condition === 'gt' || condition === 'gte'
  }

  add({ value, verdict }: { readonly value: number | undefined; readonly verdict: string }): void {
    if (verdict === 'no_data' || value === undefined) return
    this.state = 'ok'
    const worst = this.#isUpper ? Math.max : Math.min
    this.value = this.value === undefined ? value : worst(this.value, value)
  }
}

/** The end of what fires of a group that is not watched. */
const endOf = ({ alert_id: alert, group }: Standing, message: string): Change => ({
  kind: 'resolve',
  state: 'no_data',
  alert,
  group,
  value: undefined,
  message,
})

/** The pause after a firing of a rule. */
export const cooldownOf = (row: RuleRow, pulse: PulseSettings | undefined): number =>
  row.cooldown_seconds === null
    ? (pulse?.cooldownMs ?? row.window_seconds * 1000)
    : row.cooldown_seconds * 1000

/** The part of a rule that its windows depend on. */
const shapeOf = ({ metric, window_seconds, group_by, filter }: RuleRow): string =>
  JSON.stringify([metric, window_seconds, group_by, filter])
