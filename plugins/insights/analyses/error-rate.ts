import { isOfRequest } from '#kit'
import { type Analysis, type Found, hasFailed, mostExamples, percent, servedBy } from '../insight.ts'

const leastCalls = 20
const leastPercent = 10

interface Calls {
  calls: number
  errors: number
  readonly byCode: Record<string, number>
  readonly examples: string[]
}

/** Models whose calls often fail. */
export function errorRate(): Analysis {
  const models = new Map<string, Calls>()
  return {
    add(trace) {
      const name = servedBy(trace)
      const sums = models.get(name) ?? { calls: 0, errors: 0, byCode: {}, examples: [] }
      models.set(name, sums)
      sums.calls += 1
      if (!hasFailed(trace) || isOfRequest(trace.error?.provider_status)) return
      sums.errors += 1
      const code = trace.error?.code ?? trace.status
      sums.byCode[code] = (sums.byCode[code] ?? 0) + 1
      if (sums.examples.length < mostExamples) sums.examples.push(trace.id)
    },
    found() {
      const found: Found[] = []
      for (const [model, { calls, errors, byCode, examples }] of models) {
        const share = percent(errors, calls)
        if (calls < leastCalls || share < leastPercent) continue
        found.push({
          type: 'error_rate',
          subject: model,
          severity: share >= 25 ? 'high' : 'medium',
          title: `Calls of ${model} fail`,
          description: `${share} % of ${calls} calls of ${model} failed.`,
          evidence: { model, calls, errors, error_rate_pct: share, by_code: byCode, trace_ids: examples },
          savedNano: 0,
        })
      }
      return found
    },
  }
}
