import { z } from 'zod'
import type { FeedbackRecord, TraceSummary } from '#kernel'
import { estimate, factName, Mean, shareOf, takingTurns, usdOf } from '#kit'

/** Different variants that are summed up; older experiments may have had others. */
const mostVariants = 1000

export const variantResult = z.object({
  experiment: z.string(),
  variant: z.string(),
  calls: z.int(),
  errors: estimate.meta({ description: 'The share of calls that failed.' }),
  latency_ms: estimate.meta({ description: 'Until the end of the answer, of calls that did not fail.' }),
  cost_usd: estimate.meta({ description: 'Of calls whose price is known.' }),
  tokens_out: estimate,
  score: estimate.meta({ description: 'Of the feedback, from 0 to 1.' }),
  ratings: z.int(),
})

type VariantResult = z.infer<typeof variantResult>

class Sums {
  calls = 0
  failed = 0
  readonly latency = new Mean()
  readonly cost = new Mean()
  readonly tokens = new Mean()
  readonly score = new Mean()

  add({ status, latency_us, cost, usage }: TraceSummary): void {
    // What its client left, or another rule refused, says nothing of a variant.
    if (status === 'client_abort' || status === 'refused') return
    this.calls += 1
    if (cost) this.cost.add(usdOf(cost.total_nano))
    if (status === 'ok' || status === 'length') {
      this.latency.add(latency_us / 1000)
      this.tokens.add(usage.output)
    } else this.failed += 1
  }
}

/** The results of all variants that calls took part in, by experiment and variant. */
export async function resultsOf(
  traces: AsyncIterable<TraceSummary>,
  feedback: AsyncIterable<FeedbackRecord>,
): Promise<VariantResult[]> {
  const sums = new Map<string, Sums>()
  const sumsOf = (name: string): Sums | undefined => {
    const known = sums.get(name)
    if (known || sums.size >= mostVariants) return known
    const made = new Sums()
    sums.set(name, made)
    return made
  }
  const rest = takingTurns()
  for await (const trace of traces) {
    const name = factName(trace.facts.experiment)
    if (name !== undefined) sumsOf(name)?.add(trace)
    await rest()
  }
  for await (const { variant, score } of feedback) {
    if (variant !== undefined && score !== undefined) sums.get(variant)?.score.add(score)
    await rest()
  }
  return [...sums].map(([name, sum]) => resultOf(name, sum)).sort(byName)
}

function resultOf(name: string, { calls, failed, latency, cost, tokens, score }: Sums): VariantResult {
  const at = name.lastIndexOf('/')
  return {
    experiment: name.slice(0, at),
    variant: name.slice(at + 1),
    calls,
    errors: shareOf(failed, calls),
    latency_ms: latency.estimate,
    cost_usd: cost.estimate,
    tokens_out: tokens.estimate,
    score: score.estimate,
    ratings: score.count,
  }
}

const byName = (a: VariantResult, b: VariantResult): number =>
  a.experiment < b.experiment || (a.experiment === b.experiment && a.variant < b.variant) ? -1 : 1
