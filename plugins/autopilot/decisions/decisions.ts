import { type AutopilotEnd, type Call, type Context, newId, Pricing, type RowLog } from '#kernel'
import { type KeptOfUser, usdOf } from '#kit'
import type { Chosen } from '../routing/route.ts'
import type { DecisionRow } from './row.ts'

const dayMs = 86_400_000
/** Shares are summed as whole millionths. */
const million = 1_000_000

export interface DecisionSums {
  readonly decisions: number
  readonly savedUsd: number
  /** The sum over all decisions of the share of answers that are expected to be worse than the reference model's. */
  readonly regret: number
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Decisions of calls that have ended, in a log, with sums that outlast its rows. */
export class Decisions {
  readonly log: RowLog<DecisionRow>
  readonly #find: Context<unknown>['find']

  constructor({ store, find }: Pick<Context<unknown>, 'store' | 'find'>) {
    this.#find = find
    this.log = store.log<DecisionRow>('decisions', {
      id: ({ id }) => id,
      time: ({ at }) => at,
      fields: { user_id: ({ user_id }) => user_id, trace_id: ({ trace_id }) => trace_id },
      rollup: ({ at, routed_model, saved_nano = 0, quality }, add) =>
        add([`day:${dayOf(at)}`, `model:${routed_model}`, 'total'], {
          decisions: 1,
          saved_nano,
          regret: Math.round((1 - quality) * million),
        }),
    })
  }

  /** Records a decision with what came of it, and what it saved in the facts of the call's trace. */
  record(call: Call, chosen: Chosen, { outcome, fellBack }: AutopilotEnd): void {
    const { trace, principal, context } = call
    const { place, baseline, estimateNano, baselineNano } = chosen
    const { cost } = outcome
    // Of a cost of which a part is not known no saving follows.
    const actual = cost?.unpriced === undefined ? cost?.totalNano : undefined
    const instead = baseline && this.#find(Pricing)?.cost(baseline.provider, baseline.model, outcome.usage)
    const isElsewhere = chosen.fallback !== undefined
    const saved = isElsewhere && actual !== undefined && instead ? instead.totalNano - actual : undefined
    trace.facts.autopilot = { model: chosen.model, ...(saved !== undefined && { saved_nano: saved }) }
    this.log.append({
      id: newId('dec_'),
      trace_id: call.id,
      at: trace.startedAt,
      ...(principal.userId !== undefined && { user_id: principal.userId }),
      project: context.project,
      requested_model: chosen.requested,
      routed_model: chosen.model,
      ...(place && { routed_provider: place.provider }),
      reason: chosen.reason,
      quality: fellBack ? 1 : chosen.quality,
      ...(estimateNano !== undefined && { estimate_nano: estimateNano }),
      ...(baselineNano !== undefined && { baseline_nano: baselineNano }),
      ...(actual !== undefined && { actual_nano: actual }),
      ...(saved !== undefined && { saved_nano: saved }),
      ...(chosen.isCapped && { capped: true as const }),
      ...(fellBack && { fell_back: true as const }),
    })
  }

  total(): Promise<DecisionSums> {
    return this.#sums('total')
  }

  today(now = Date.now()): Promise<DecisionSums> {
    return this.#sums(`day:${dayOf(now)}`)
  }

  /** How many decisions each model got, those with the most first. */
  async byModel(): Promise<{ model: string; count: number }[]> {
    const { cells } = await this.log.totals('model:', 'model;')
    return cells
      .map(([cell, { decisions = 0 }]) => ({ model: cell.slice('model:'.length), count: decisions }))
      .sort((a, b) => b.count - a.count)
  }

  /** What the decisions of a caller saved today, in USD. */
  async savedToday(userId: string | undefined, now = Date.now()): Promise<number> {
    if (userId === undefined) return (await this.today(now)).savedUsd
    let nano = 0
    const from = Date.parse(dayOf(now))
    for await (const { saved_nano = 0 } of this.log.scan({ where: { user_id: userId }, from }))
      nano += saved_nano
    return usdOf(nano)
  }

  /** Deletes decisions that are older than so many days; their sums stay. */
  async prune(days: number): Promise<void> {
    await this.log.prune(Date.now() - days * dayMs)
  }

  get ofUsers(): KeptOfUser {
    return {
      count: async (user) => (await this.log.list({ where: { user_id: user }, limit: 0 })).total,
      erase: (user) => this.log.erase(({ user_id }) => user_id === user),
    }
  }

  async #sums(cell: string): Promise<DecisionSums> {
    const { cells } = await this.log.totals(cell, `${cell}\u0000`)
    const [, { decisions = 0, saved_nano = 0, regret = 0 } = {}] = cells[0] ?? []
    return { decisions, savedUsd: usdOf(saved_nano), regret: regret / million }
  }
}
