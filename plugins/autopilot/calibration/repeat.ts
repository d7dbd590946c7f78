import type { ModelRequest } from '#kernel'
import { type PastCall, tokenLimit } from '#kit'
import { type AnswerRow, answerId, type CalibrationRow } from './rows.ts'

/** The most tokens of an answer to a call that sets no limit: so many times those of the reference model's, and at least so many. */
const longer = { times: 4, least: 1024 }

interface Begun {
  readonly calibration: Pick<CalibrationRow, 'id'>
  readonly past: PastCall
  readonly model: string
  /** What an attempt that was cut off has left. */
  readonly before: AnswerRow | undefined
}

/** The request of a past call for another model, with a limit of its answer. */
export function repeated({ request, trace }: PastCall, model: string): ModelRequest {
  const { n: _, ...rest } = request
  if (tokenLimit(request) !== undefined) return { ...rest, model }
  return { ...rest, model, max_tokens: Math.max(longer.least, longer.times * trace.usage.output) }
}

/** The row of an answer that is about to be asked for. */
export function begunRow({ calibration, past: { trace }, model, before }: Begun): AnswerRow {
  return {
    id: answerId(calibration.id, trace.id, model),
    calibration_id: calibration.id,
    trace_id: trace.id,
    ...(trace.user_id !== undefined && { user_id: trace.user_id }),
    ...(trace.tenant !== undefined && { tenant: trace.tenant }),
    model,
    status: 'asked',
    held_nano: 0,
    lost_nano: before ? before.lost_nano + before.held_nano : 0,
    at: new Date().toISOString(),
  }
}
