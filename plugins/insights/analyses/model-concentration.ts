import { usdOf } from '#kit'
import { type Analysis, percent, servedBy } from '../insight.ts'

const leastCalls = 50
const leastPercent = 90

/** One model that nearly all the money goes to; its price and its failures hit everything. */
export function modelConcentration(): Analysis {
  const models = new Map<string, { calls: number; nano: number }>()
  let [calls, nano] = [0, 0]
  return {
    add(trace) {
      if (trace.provider === undefined) return
      const name = servedBy(trace)
      const cost = trace.cost?.total_nano ?? 0
      const sums = models.get(name) ?? { calls: 0, nano: 0 }
      models.set(name, { calls: sums.calls + 1, nano: sums.nano + cost })
      calls += 1
      nano += cost
    },
    found() {
      const [top] = [...models].sort(([, a], [, b]) => b.nano - a.nano)
      if (!top || calls < leastCalls || nano === 0) return []
      const [model, sums] = top
      const share = percent(sums.nano, nano)
      if (share < leastPercent) return []
      return [
        {
          type: 'model_concentration',
          subject: model,
          severity: 'low',
          title: `Nearly everything depends on ${model}`,
          description: `${share} % of the cost of ${calls} calls went to ${model}. A fallback to another provider keeps them working when it fails.`,
          evidence: {
            model,
            calls: sums.calls,
            total_calls: calls,
            cost_usd: usdOf(sums.nano),
            total_cost_usd: usdOf(nano),
            share_pct: share,
            models: models.size,
          },
          savedNano: 0,
        },
      ]
    },
  }
}
