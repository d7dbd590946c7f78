import { shareOf } from '#kit'
import type { Configuration } from '../configuration/fields.ts'
import type { ScoreRow } from './row.ts'

/** How a model stands under the configuration of now. */
export interface Standing {
  readonly score: ScoreRow
  /** The share of answers as good as the reference model's; undefined while none was compared. */
  readonly quality: number | undefined
  readonly interval: { readonly low: number; readonly high: number }
  readonly successRate: number
  /** Why it gets no calls; undefined where it qualifies. */
  readonly problem: string | undefined
}

export function standingOf(score: ScoreRow, configuration: Configuration): Standing {
  const { hits, samples, asked, answered } = score
  const isReference = score.model === configuration.reference_model
  const { low, high } = shareOf(hits, samples, configuration.confidence)
  const interval = isReference ? { low: 1, high: 1 } : { low: low ?? 0, high: high ?? 1 }
  const successRate = asked === 0 ? 0 : answered / asked
  const quality = isReference ? 1 : samples === 0 ? undefined : hits / samples
  const standing = { score, quality, interval, successRate }
  return { ...standing, problem: isReference ? undefined : problemOf(standing, configuration) }
}

function problemOf(
  { score, interval: { low }, successRate }: Omit<Standing, 'problem'>,
  { quality_threshold, min_success_rate, reference_model, candidate_models, guard }: Configuration,
): string | undefined {
  const { model, reference, samples, suspended, latency_ms } = score
  if (!candidate_models.includes(model)) return 'it is no candidate'
  if (reference !== reference_model) return `it was compared with ${reference}`
  if (suspended) return `suspended: ${suspended.reason}`
  if (samples === 0) return 'none of its answers was compared'
  if (low < quality_threshold)
    return `the lower bound of its quality, ${low.toFixed(3)}, is below ${quality_threshold}`
  if (successRate < min_success_rate)
    return `it answered ${(successRate * 100).toFixed(0)} % of its calls, less than ${min_success_rate * 100} %`
  if (guard.max_latency_ms !== null && latency_ms > guard.max_latency_ms)
    return `its answers take ${Math.round(latency_ms)} ms, more than ${guard.max_latency_ms}`
  return undefined
}
