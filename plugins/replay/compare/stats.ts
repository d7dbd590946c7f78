import { takingTurns } from '#kit'
import { changeBy, type RunRow } from '../runs/row.ts'
import { winnersOf } from './winners.ts'

/** Runs that figures are made of at the most, the newest ones. */
export const mostRuns = 5000

/** A mean of the values that are known, to nine decimals. */
class Mean {
  #sum = 0
  #count = 0

  add(value: number | null): void {
    if (value === null) return
    this.#sum += value
    this.#count += 1
  }

  get value(): number | null {
    return this.#count === 0 ? null : Math.round((this.#sum / this.#count) * 1e9) / 1e9
  }
}

/** Figures of runs with one model. */
class ModelSums {
  runs = 0
  wins = 0
  readonly cost = new Mean()
  readonly latency = new Mean()
}

/** Figures of runs, and their models, those first that win more often. */
export async function statsOf(runs: AsyncIterable<RunRow>) {
  let [total_runs, successful, errors] = [0, 0, 0]
  const cost = new Mean()
  const latency = new Mean()
  const models = new Map<string, ModelSums>()
  const rest = takingTurns()
  for await (const row of runs) {
    if (total_runs === mostRuns) break
    await rest()
    total_runs += 1
    if (row.status === 'error') errors += 1
    if (row.status !== 'success') continue
    successful += 1
    const { source, target } = row
    cost.add(changeBy(source.cost_usd, target.cost_usd))
    latency.add(changeBy(source.latency_ms, target.latency_ms))
    const sums = models.get(target.model) ?? new ModelSums()
    models.set(target.model, sums)
    sums.runs += 1
    sums.cost.add(target.cost_usd)
    sums.latency.add(target.latency_ms)
    if (winnersOf(row).overall === 'right') sums.wins += 1
  }
  return {
    total_runs,
    successful,
    errors,
    avg_cost_delta_usd: cost.value,
    avg_latency_delta_ms: latency.value,
    model_leaderboard: [...models]
      .map(([model, { runs, wins, cost, latency }]) => ({
        model,
        runs,
        avg_cost_usd: cost.value,
        avg_latency_ms: latency.value,
        win_rate: wins / runs,
      }))
      .sort((a, b) => b.win_rate - a.win_rate || b.runs - a.runs),
  }
}
