import { noUsage } from '#kernel'
import { fields, numbers } from './fields.ts'
import type { TraceRow } from './row.ts'
import { traceDetail } from './shapes.ts'
import { detailOf } from './view.ts'

/** The optional parts of a trace, each as it is when nothing is known of it. */
const spare = {
  request_id: undefined,
  parent_id: undefined,
  session_id: undefined,
  tenant: undefined,
  run_id: undefined,
  tags: {},
  provider: undefined,
  provider_model: undefined,
  status_code: undefined,
  error: undefined,
  ttft_us: undefined,
  usage: noUsage,
  cost: undefined,
  saved_nano: undefined,
  saved_by_autopilot_nano: undefined,
  finish_reason: undefined,
  cache: undefined,
  attempts: [],
  timings: [],
  notes: [],
  shadows: undefined,
  skips: undefined,
  changes: undefined,
  decisions: [],
  params_changed: [],
  facts: {},
  generation: undefined,
} as const satisfies { readonly [F in keyof TraceRow]?: TraceRow[F] | undefined }

/**
 * The row of a trace as it can be listed and shown: itself when it can, else without the fields that it can be shown without
 * and not with; undefined when that does not do, as the time, the model or whose it is cannot be made up.
 */
export function fittedRow(row: unknown): TraceRow | undefined {
  if (fits(row)) return row
  let fitting: object = { ...(row as object), ...spare }
  if (!fits(fitting)) return undefined
  for (const field of Object.keys(spare) as (keyof typeof spare)[]) {
    const more = { ...fitting, [field]: (row as TraceRow)[field] }
    if (fits(more)) fitting = more
  }
  return fitting as unknown as TraceRow
}

function fits(row: unknown): row is TraceRow {
  try {
    traceDetail.parse(detailOf(row as TraceRow, undefined))
    for (const of of Object.values({ ...fields, ...numbers })) of(row as TraceRow)
    return true
  } catch {
    return false
  }
}
