import { usdOf } from '#kit'
import type { Analysis } from '../insight.ts'
import { mostExamples, percent } from '../insight.ts'

const leastCalls = 3
const leastPercent = 1

/** Money for answers that no client got: of calls that failed, were left by their client, or whose answer was blocked. */
export function costWaste(): Analysis {
  const lost = new Set(['error', 'timeout', 'client_abort', 'blocked'])
  const byStatus: Record<string, number> = {}
  const examples: string[] = []
  let [calls, wasted, total] = [0, 0, 0]
  return {
    add({ id, status, cost }) {
      const nano = cost?.total_nano ?? 0
      total += nano
      if (nano === 0 || !lost.has(status)) return
      calls += 1
      wasted += nano
      byStatus[status] = (byStatus[status] ?? 0) + 1
      if (examples.length < mostExamples) examples.push(id)
    },
    found() {
      const share = percent(wasted, total)
      if (calls < leastCalls || share < leastPercent) return []
      return [
        {
          type: 'cost_waste',
          subject: '',
          severity: share >= 10 ? 'high' : 'medium',
          title: 'Calls are paid for and not used',
          description: `${share} % of the cost went to ${calls} calls whose answer no client got.`,
          evidence: {
            calls,
            cost_usd: usdOf(wasted),
            total_cost_usd: usdOf(total),
            by_status: byStatus,
            trace_ids: examples,
          },
          savedNano: wasted,
        },
      ]
    },
  }
}
