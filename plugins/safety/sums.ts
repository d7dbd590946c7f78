import type { RowLog } from '#kernel'
import { createTeller } from '#kit'
import type { SafetyEvent } from './event.ts'

/**
 * The roll-up of events, written in the batch of their rows. Each event adds to cells of all users (`*`) and of its own user, apart
 * by what made the call (`*~replay`); clients' own calls have no suffix:
 *
 * - `d/<scope>/<day>`: all events of a day, and those of each type, severity and action;
 * - `r/<scope>/<day>/<rule>`: those of a rule, `["<module>","<rule id>","<category>"]`.
 *
 * Days are counted from the epoch, in UTC.
 */
export const everybody = '*'
const dayMs = 86_400_000

export const dayOf = (ms: number): number => Math.floor(ms / dayMs)
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10)

/** What tells scopes of a source apart: `plugin` for each `plugin:<module>`. */
const scopeOf = (holder: string, source: string): string =>
  source === 'proxy' ? holder : `${holder}~${source.split(':')[0]}`

export type Sums = Readonly<Record<string, number>>

/** A rule, or what a module looks for by itself, and how often it found something. */
export interface RuleSum {
  readonly module: string
  readonly ruleId: string | null
  readonly category: string
  readonly count: number
}

export function createRollUp(): (
  event: SafetyEvent,
  add: (cells: readonly string[], sums: Sums) => void,
) => void {
  const tellApart = createTeller()
  return (event, add) => {
    const { event_type, severity, action_taken, module, rule_id, category, user_id, source } = event
    const day = dayOf(Date.parse(event.created_at))
    const scopes = [everybody, ...(user_id === null ? [] : [user_id])]
    const isOpen = action_taken !== 'blocked' && action_taken !== 'redacted'
    add(
      scopes.map((holder) => `d/${scopeOf(holder, source)}/${day}`),
      {
        events: 1,
        [`type ${event_type}`]: 1,
        [`severity ${severity}`]: 1,
        [`action ${action_taken}`]: 1,
        ...(isOpen && { [`open ${severity}`]: 1 }),
      },
    )
    const rule = JSON.stringify([module, rule_id, category])
    add(
      scopes.map(
        (holder) => `r/${scopeOf(holder, source)}/${day}/${tellApart(`${holder}\n${day}`, 'rule', rule)}`,
      ),
      { events: 1 },
    )
  }
}

/** Reads the roll-up for one user, or all of them, and one source of calls. */
export class SafetySums {
  readonly #log: RowLog<SafetyEvent>
  readonly #scope: string

  constructor(log: RowLog<SafetyEvent>, userId: string | undefined, source: string) {
    this.#log = log
    this.#scope = scopeOf(userId ?? everybody, source)
  }

  /** By the number of the day, both days included; days without events are left out. */
  async byDay(fromDay: number, toDay: number): Promise<Map<number, Sums>> {
    const prefix = `d/${this.#scope}/`
    const { cells } = await this.#log.totals(prefix + fromDay, prefix + (toDay + 1))
    return new Map(cells.map(([cell, sums]) => [Number(cell.slice(prefix.length)), sums]))
  }

  /** Over the days, both included, the most frequent first. */
  async byRule(fromDay: number, toDay: number): Promise<RuleSum[]> {
    const prefix = `r/${this.#scope}/`
    const { cells } = await this.#log.totals(prefix + fromDay, prefix + (toDay + 1))
    const sums = new Map<string, number>()
    for (const [cell, { events = 0 }] of cells) {
      const rule = cell.slice(cell.indexOf('/', prefix.length) + 1)
      sums.set(rule, (sums.get(rule) ?? 0) + events)
    }
    return Array.from(sums, ([rule, count]) => ({ ...ruleOf(rule), count })).sort((a, b) => b.count - a.count)
  }
}

/** Rules beyond the number that is kept for a user and day are one without a name. */
function ruleOf(rule: string): Omit<RuleSum, 'count'> {
  if (!rule.startsWith('[')) return { module: rule, ruleId: null, category: rule }
  const [module, ruleId, category] = JSON.parse(rule)
  return { module, ruleId, category }
}
