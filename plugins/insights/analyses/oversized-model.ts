import type { Pricing, TraceSummary } from '#kernel'
import { usdOf } from '#kit'
import { type Analysis, type Found, mostExamples, servedBy } from '../insight.ts'

/** A short call: tokens of its prompt and of its answer. */
const short = { input: 500, output: 200 }
const leastCalls = 20
/** Calls that say that a model does its work here. */
const leastKnown = 5
/** Models that are compared with one another: those of most calls. */
const mostModels = 10
/** A cheaper model costs at most this part. */
const mostShare = 0.5

interface Served extends Pick<TraceSummary, 'model' | 'operation'> {
  readonly provider: string
  readonly traces: TraceSummary[]
  calls: number
}

/**
 * Models that short calls are sent to, though another one of those in use would cost half as much at the most. Calls with
 * reasoning, images or audio are no short ones.
 */
export function oversizedModel(pricing: Pick<Pricing, 'cost'> | undefined): Analysis {
  const models = new Map<string, Served>()

  const costWith = ({ provider, model }: Served, traces: readonly TraceSummary[]): number | undefined => {
    let sum = 0
    for (const { usage, at } of traces) {
      const cost = pricing?.cost(provider, model, usage, at)
      if (!cost) return undefined
      sum += cost.totalNano
    }
    return sum
  }

  function cheapest(own: Served, all: readonly Served[]): { other: Served; nano: number } | undefined {
    let best: { other: Served; nano: number } | undefined
    for (const other of all) {
      if (other === own || other.calls < leastKnown || other.operation !== own.operation) continue
      const nano = costWith(other, own.traces)
      if (nano !== undefined && nano < (best?.nano ?? Number.POSITIVE_INFINITY)) best = { other, nano }
    }
    return best
  }

  return {
    add(trace) {
      const { provider, model, operation, status, cost } = trace
      if (status !== 'ok' || provider === undefined) return
      const name = `${operation} ${servedBy(trace)}`
      const served = models.get(name) ?? { provider, model, operation, traces: [], calls: 0 }
      models.set(name, served)
      served.calls += 1
      if (cost && isShort(trace)) served.traces.push(trace)
    },
    found() {
      const found: Found[] = []
      const all = [...models.values()].toSorted((a, b) => b.calls - a.calls).slice(0, mostModels)
      for (const served of all) {
        const { traces } = served
        if (traces.length < leastCalls) continue
        const nano = traces.reduce((sum, { cost }) => sum + cost!.total_nano, 0)
        const best = cheapest(served, all)
        if (!best || best.nano > mostShare * nano) continue
        const [model, cheaper] = [servedBy(served), servedBy(best.other)]
        found.push({
          type: 'oversized_model',
          subject: model,
          severity: 'medium',
          title: `Short calls go to ${model}`,
          description: `${traces.length} short calls of ${model} cost ${usdOf(nano)} USD; with ${cheaper}, which is in use as well, they would have cost ${usdOf(best.nano)} USD. Compare answers before you change it.`,
          evidence: {
            model,
            cheaper_model: cheaper,
            calls: traces.length,
            cost_usd: usdOf(nano),
            cost_with_cheaper_usd: usdOf(best.nano),
            avg_tokens_in: average(traces, ({ usage }) => usage.input),
            avg_tokens_out: average(traces, ({ usage }) => usage.output),
            trace_ids: traces.slice(0, mostExamples).map(({ id }) => id),
          },
          savedNano: nano - best.nano,
        })
      }
      return found
    },
  }
}

const isShort = ({ usage }: TraceSummary): boolean =>
  usage.input <= short.input &&
  usage.output <= short.output &&
  usage.reasoning + usage.imageIn + usage.audioIn + usage.audioOut === 0

const average = (traces: readonly TraceSummary[], of: (trace: TraceSummary) => number): number =>
  Math.round(traces.reduce((sum, trace) => sum + of(trace), 0) / traces.length)
