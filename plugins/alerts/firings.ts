import { hash } from 'node:crypto'
import { z } from 'zod'
import { type Collection, type Context, newId, type Transaction } from '#kernel'
import type { Change, Fire, Resolve } from './change.ts'
import { AlertFired, AlertResolved, type Told } from './events.ts'
import { type History, type HistoryRow, newHistoryRow } from './history.ts'

const standingRow = z.strictObject({
  alert_id: z.string(),
  group: z.string(),
  /** `over` is remembered as long as the rule may not fire again. */
  state: z.enum(['firing', 'over']),
  /** Milliseconds since the epoch. */
  fired_at: z.int(),
  history_id: z.string(),
  /** Whether `alert.fired` was emitted; not while the rule is silenced. */
  told: z.boolean(),
})
export type Standing = z.infer<typeof standingRow>

/**
 * What fires, on disk and in memory. A change, its entry in the history and its event are one transaction, so that each firing and
 * each resolution is told once, whenever the process dies.
 */
export class Firings {
  readonly #rows: Collection<Standing>
  readonly #history: History
  readonly #parts: Pick<Context<unknown>, 'store' | 'emit'>
  /** By rule, then by group. */
  readonly #standings = new Map<string, Map<string, Standing>>()

  constructor(parts: Pick<Context<unknown>, 'store' | 'emit'>, history: History) {
    this.#parts = parts
    this.#history = history
    this.#rows = parts.store.collection('standings', { schema: standingRow })
  }

  async load(): Promise<void> {
    for await (const [, row] of this.#rows.scan()) this.#keep(row)
  }

  get(alert: string, group: string): Standing | undefined {
    return this.#standings.get(alert)?.get(group)
  }

  /** The groups of a rule that fire, the longest first. */
  firing(alert: string): Standing[] {
    const all = [...(this.#standings.get(alert)?.values() ?? [])]
    return all.filter(({ state }) => state === 'firing').sort((a, b) => a.fired_at - b.fired_at)
  }

  /** By what the rule grouped when it fired; undefined where that is not known any more. */
  async groupingOf({ history_id: id }: Standing): Promise<HistoryRow['group_by'] | undefined> {
    return (await this.#history.rows.get(id))?.group_by
  }

  /** The rules of which something is remembered. */
  get alerts(): string[] {
    return [...this.#standings.keys()]
  }

  /** Makes changes, all in one transaction. */
  async make(changes: readonly Change[], now: number): Promise<void> {
    if (changes.length === 0) return
    const ids = changes.map(() => newId('ah_'))
    const made: Standing[] = []
    await this.#parts.store.transaction((tx) => {
      made.length = 0
      for (const [i, change] of changes.entries()) {
        const standing = this.#makeIn(tx, change, ids[i]!, now)
        if (standing) made.push(standing)
      }
    })
    for (const standing of made) this.#keep(standing)
  }

  /** Forgets groups of a rule that are over and, after `cooldownMs`, may fire again. */
  async tidy(alert: string, cooldownMs: number, now: number): Promise<void> {
    for (const standing of this.#standings.get(alert)?.values() ?? []) {
      const isPast = standing.state === 'over' && now - standing.fired_at >= cooldownMs
      if (isPast) await this.forget(standing)
    }
  }

  async forget(standing: Standing): Promise<void> {
    const { alert_id: alert, group } = standing
    await this.#rows.delete(idOf(standing))
    const own = this.#standings.get(alert)
    own?.delete(group)
    if (own?.size === 0) this.#standings.delete(alert)
  }

  #keep(standing: Standing): void {
    const own = this.#standings.get(standing.alert_id) ?? new Map<string, Standing>()
    this.#standings.set(standing.alert_id, own.set(standing.group, standing))
  }

  #makeIn(tx: Transaction, change: Change, id: string, now: number): Standing | undefined {
    if (change.kind === 'fire') return this.#fireIn(tx, change, id, now)
    const known = this.get(change.alert, change.group)
    if (!known) return undefined
    const row = tx.get(this.#history.rows, known.history_id)
    return change.kind === 'tell'
      ? this.#tellIn(tx, known, row)
      : this.#resolveIn(tx, known, row, change, now)
  }

  #fireIn(tx: Transaction, change: Fire, id: string, now: number): Standing {
    const { rule, group, isSilenced } = change
    const row = newHistoryRow(id, change, now)
    const standing: Standing = {
      alert_id: rule.id,
      group,
      state: 'firing',
      fired_at: now,
      history_id: id,
      told: !isSilenced,
    }
    tx.put(this.#rows, idOf(standing), standing)
    tx.put(this.#history.rows, id, row)
    if (!isSilenced) this.#parts.emit(AlertFired, firedOf(row), { in: tx })
    return standing
  }

  #tellIn(tx: Transaction, known: Standing, row: HistoryRow | undefined): Standing {
    const standing: Standing = { ...known, told: true }
    tx.put(this.#rows, idOf(standing), standing)
    if (row) this.#parts.emit(AlertFired, firedOf(row), { in: tx })
    return standing
  }

  #resolveIn(
    tx: Transaction,
    known: Standing,
    row: HistoryRow | undefined,
    { value: last, state, message }: Resolve,
    now: number,
  ): Standing {
    const value = last ?? null
    const standing: Standing = { ...known, state: 'over' }
    tx.put(this.#rows, idOf(standing), standing)
    if (!row) return standing
    const resolved_at = new Date(now).toISOString()
    tx.put(this.#history.rows, row.id, { ...row, resolved_at, resolved_to: state, resolved_value: value })
    // Also of a silenced rule: who was told that it fires is told that it is over.
    if (known.told) {
      const told = { ...aboutOf(row), metric_value: value, message, state, resolved_at }
      this.#parts.emit(AlertResolved, told, { in: tx })
    }
    return standing
  }
}

const idOf = ({ alert_id: alert, group }: Pick<Standing, 'alert_id' | 'group'>): string =>
  `${alert} ${hash('sha256', group, 'base64url')}`

const firedOf = (row: HistoryRow): Told & { readonly state: 'firing' } => ({
  ...aboutOf(row),
  state: 'firing',
})

const aboutOf = (row: HistoryRow) => ({
  alert_id: row.alert_id,
  rule_name: row.rule_name,
  metric: row.metric,
  metric_value: row.metric_value,
  condition: row.condition,
  threshold: row.threshold,
  severity: row.severity,
  group_by: row.group_by,
  group: row.group,
  message: row.message,
  history_id: row.id,
  fired_at: row.fired_at,
})
