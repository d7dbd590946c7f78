const hourMs = 3_600_000

/** Models that are remembered. */
const mostModels = 1000

/** The dearest calls of a model in an hour, and in the one before. */
interface Dearest {
  hour: number
  nano: number
  before: number
}

/** What calls of models have cost at the most lately: plain data, as it outlives reloads. */
export type RecentCosts = Map<string, Dearest>

export function addRecentCost(costs: RecentCosts, model: string, nano: number, now: number): void {
  const known = currentOf(costs, model, now)
  costs.delete(model)
  if (costs.size >= mostModels) costs.delete(costs.keys().next().value!)
  costs.set(model, { ...known, nano: Math.max(known.nano, nano) })
}

/** The cost of the dearest call of a model in this hour and the last one, in nano-dollars; undefined when there was none. */
export function dearestRecent(costs: RecentCosts, model: string, now: number): number | undefined {
  const { nano, before } = currentOf(costs, model, now)
  return Math.max(nano, before) || undefined
}

function currentOf(costs: RecentCosts, model: string, now: number): Dearest {
  const hour = Math.floor(now / hourMs)
  const known = costs.get(model)
  if (known?.hour === hour) return known
  return { hour, nano: 0, before: known?.hour === hour - 1 ? known.nano : 0 }
}
