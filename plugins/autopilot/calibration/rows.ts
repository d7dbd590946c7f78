import { z } from 'zod'
import { storedPrincipal } from '#kit'

/** Which calls may be repeated, beside what the configuration allows. */
export const traceFilter = z.strictObject({
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  user_id: z.string().min(1).max(200).optional(),
  project: z.string().min(1).max(200).optional(),
})
export type TraceFilter = z.infer<typeof traceFilter>

/** A call that the reference model answered. */
const sample = z.object({
  trace_id: z.string(),
  provider: z.string().optional(),
  cost_nano: z.int().optional(),
  latency_ms: z.number(),
  tokens_out: z.int(),
})
export type Sample = z.infer<typeof sample>

export const statuses = ['running', 'completed', 'cancelled', 'failed'] as const

/** A calibration: what it is to do, and what came of it. */
export const calibrationRow = z.object({
  id: z.string(),
  status: z.enum(statuses),
  /** In whose name the calls are made: the admin's who began it. */
  principal: storedPrincipal,
  ip: z.string(),
  reference: z.string(),
  candidates: z.array(z.string()),
  judge: z.object({ model: z.string(), rubric: z.string() }),
  max_nano: z.int(),
  samples: z.array(sample),
  spent_nano: z.int(),
  /** Whether the money was used up before all was compared. */
  out_of_money: z.boolean(),
  error: z.string().optional(),
  created_at: z.string(),
  ended_at: z.string().optional(),
})
export type CalibrationRow = z.infer<typeof calibrationRow>

/** An answer of a candidate to a call: from when it is asked for, so that no money is forgotten. */
export const answerRow = z.object({
  id: z.string(),
  calibration_id: z.string(),
  trace_id: z.string(),
  /** Whose call it was. */
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  model: z.string(),
  provider: z.string().optional(),
  /** Unsupported: the model cannot do what the call needs. Refused: the gateway let the call not pass. */
  status: z.enum(['asked', 'scored', 'unscored', 'failed', 'refused', 'unsupported']),
  /** Set apart while it is asked, and lost by those that were asked before and never ended. */
  held_nano: z.int(),
  lost_nano: z.int(),
  /** Of the answer, and with the judge's questions. */
  answer_nano: z.int().optional(),
  cost_nano: z.int().optional(),
  latency_ms: z.number().optional(),
  tokens_out: z.int().optional(),
  /** 1 for as good as the reference model's in both orders, 0.5 in one. */
  score: z.number().optional(),
  error: z.string().optional(),
  /** The beginnings of both answers as JSON, sealed where that is asked for. */
  previews: z.string().optional(),
  at: z.string(),
})
export type AnswerRow = z.infer<typeof answerRow>

export const answerId = (calibration: string, trace: string, model: string): string =>
  `${calibration}:${trace}:${model}`

/** What an answer has cost, or may have. */
export const spentOn = ({ status, held_nano, lost_nano, cost_nano = 0 }: AnswerRow): number =>
  lost_nano + (status === 'asked' ? held_nano : cost_nano)
