import { z } from 'zod'
import { usdOf } from '#kit'
import { type ScoreItem, scoreItem } from '../scores/item.ts'
import { type AnswerRow, type CalibrationRow, statuses } from './rows.ts'

const time = z.string().meta({ format: 'date-time' }).nullable()

export const calibrationItem = z.object({
  calibration_id: z.string().nullable().meta({ description: 'Null for a dry run.' }),
  status: z.enum(['planned', ...statuses]),
  reference_model: z.string(),
  candidates: z.array(z.string()),
  models_scored: z.int(),
  traces_used: z.int(),
  cost_usd: z.number().meta({
    description: 'Of all answers and of the judge, with what is set apart for those under way.',
  }),
  max_cost_usd: z.number(),
  out_of_money: z.boolean().meta({ description: 'Whether the limit ended it before all was compared.' }),
  duration_ms: z.number(),
  scores: z.record(z.string(), scoreItem).meta({ description: 'The scores of now that are from it.' }),
  recommendation: z
    .object({ model: z.string().nullable(), reason: z.string() })
    .nullable()
    .meta({ description: 'Where calls go by the scores of now; null while it runs.' }),
  error: z.string().nullable(),
  created_at: time,
  ended_at: time,
})
export type CalibrationItem = z.infer<typeof calibrationItem>

export function calibrationItemOf(
  row: CalibrationRow,
  answers: readonly AnswerRow[],
  spentNano: number,
  scores: Readonly<Record<string, ScoreItem>>,
  recommendation: CalibrationItem['recommendation'],
): CalibrationItem {
  const used = answers.filter(({ status }) => status !== 'asked' && status !== 'unsupported')
  const ended = row.ended_at === undefined ? Date.now() : Date.parse(row.ended_at)
  return {
    calibration_id: row.id,
    status: row.status,
    reference_model: row.reference,
    candidates: row.candidates,
    models_scored: new Set(answers.filter(({ status }) => status === 'scored').map(({ model }) => model))
      .size,
    traces_used: new Set(used.map(({ trace_id }) => trace_id)).size,
    cost_usd: usdOf(spentNano),
    max_cost_usd: usdOf(row.max_nano),
    out_of_money: row.out_of_money,
    duration_ms: ended - Date.parse(row.created_at),
    scores,
    recommendation: row.status === 'running' ? null : recommendation,
    error: row.error ?? null,
    created_at: row.created_at,
    ended_at: row.ended_at ?? null,
  }
}

const text = z.string().nullable()

export const logItem = z.object({
  calibration_id: z.string(),
  trace_id: z.string(),
  model: z.string(),
  provider: text,
  status: z.enum(['asked', 'scored', 'unscored', 'failed', 'refused', 'unsupported']),
  score: z.number().nullable().meta({
    description:
      '1 for an answer as good as the reference model’s, 0 for a worse one, 0.5 where that depends on the order.',
  }),
  method: z.literal('judge, both orders'),
  reference_preview: text.meta({ description: 'Null after the data of the user was erased.' }),
  candidate_preview: text,
  cost_usd: z.number().nullable().meta({ description: 'With the questions to the judge.' }),
  latency_ms: z.number().nullable(),
  error: text,
  created_at: z.string().meta({ format: 'date-time' }),
})

export function logItemOf(
  row: AnswerRow,
  previews: { readonly reference: string; readonly candidate: string } | undefined,
): z.infer<typeof logItem> {
  return {
    calibration_id: row.calibration_id,
    trace_id: row.trace_id,
    model: row.model,
    provider: row.provider ?? null,
    status: row.status,
    score: row.score ?? null,
    method: 'judge, both orders',
    reference_preview: previews?.reference ?? null,
    candidate_preview: previews?.candidate ?? null,
    cost_usd: row.cost_nano === undefined ? null : usdOf(row.cost_nano),
    latency_ms: row.latency_ms ?? null,
    error: row.error ?? null,
    created_at: row.at,
  }
}
