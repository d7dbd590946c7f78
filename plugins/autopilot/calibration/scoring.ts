import type { ScoreRow } from '../scores/row.ts'
import type { AnswerRow, CalibrationRow, Sample } from './rows.ts'

/** What a calibration says of its models, the reference model included. */
export function scoresOf(calibration: CalibrationRow, answers: readonly AnswerRow[]): ScoreRow[] {
  const { id: calibration_id, reference, candidates, samples } = calibration
  const at = new Date().toISOString()
  const shared = { reference, calibration_id, at }
  const byTrace = new Map(samples.map((sample) => [sample.trace_id, sample]))
  const scored = candidates.flatMap((model) => {
    const own = answers.filter((answer) => answer.model === model)
    const asked = own.filter(
      ({ status }) => status === 'scored' || status === 'unscored' || status === 'failed',
    )
    return asked.length === 0 ? [] : [{ ...shared, ...scoreOf(model, asked, byTrace) }]
  })
  return scored.length === 0 ? [] : [...scored, { ...shared, ...ofReference(reference, samples) }]
}

function scoreOf(
  model: string,
  asked: readonly AnswerRow[],
  samples: ReadonlyMap<string, Sample>,
): Omit<ScoreRow, 'reference' | 'calibration_id' | 'at'> {
  const answered = asked.filter(({ status }) => status !== 'failed')
  const scores = answered.flatMap(({ score }) => (score === undefined ? [] : [score]))
  const pairs = answered.map((answer) => ({ answer, sample: samples.get(answer.trace_id)! }))
  const priced = pairs.filter(({ sample }) => sample.cost_nano !== undefined)
  const times = answered.map(({ latency_ms = 0 }) => latency_ms)
  const provider = answered.find((answer) => answer.provider !== undefined)?.provider
  return {
    model,
    ...(provider !== undefined && { provider }),
    samples: scores.length,
    hits: sum(scores),
    asked: asked.length,
    answered: answered.length,
    ...(answered.length > 0 && { cost_nano: mean(answered.map(({ answer_nano = 0 }) => answer_nano)) }),
    latency_ms: mean(times),
    p95_latency_ms: p95(times),
    tokens_out: mean(answered.map(({ tokens_out = 0 }) => tokens_out)),
    ...ratio(
      'cost_ratio',
      priced.map(({ answer }) => answer.answer_nano ?? 0),
      priced.map(({ sample }) => sample.cost_nano!),
    ),
    ...ratio(
      'latency_ratio',
      times,
      pairs.map(({ sample }) => sample.latency_ms),
    ),
  }
}

function ofReference(
  model: string,
  samples: readonly Sample[],
): Omit<ScoreRow, 'reference' | 'calibration_id' | 'at'> {
  const costs = samples.flatMap(({ cost_nano }) => (cost_nano === undefined ? [] : [cost_nano]))
  const times = samples.map(({ latency_ms }) => latency_ms)
  const provider = samples.find((sample) => sample.provider !== undefined)?.provider
  return {
    model,
    ...(provider !== undefined && { provider }),
    ...{ samples: samples.length, hits: samples.length, asked: samples.length, answered: samples.length },
    ...(costs.length > 0 && { cost_nano: mean(costs) }),
    latency_ms: mean(times),
    p95_latency_ms: p95(times),
    tokens_out: mean(samples.map(({ tokens_out }) => tokens_out)),
    cost_ratio: 1,
    latency_ratio: 1,
  }
}

/** What a model takes for what the reference model takes, over the same calls; nothing where that is nothing. */
function ratio<K extends string>(name: K, own: readonly number[], usual: readonly number[]) {
  const bottom = sum(usual)
  return (bottom > 0 ? { [name]: sum(own) / bottom } : {}) as { readonly [P in K]?: number }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
const mean = (numbers: readonly number[]): number =>
  numbers.length === 0 ? 0 : sum(numbers) / numbers.length

function p95(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(0.95 * sorted.length) - 1)] ?? 0
}
