import type { TraceRow } from './row.ts'

type Value = string | number | undefined

/** The filters of listings: each is answered from the log's index. */
export const fields = {
  model: ({ model, model_requested }: TraceRow) =>
    model === model_requested ? model : [model, model_requested],
  provider: (row: TraceRow) => row.provider,
  status: (row: TraceRow) => row.status,
  source: (row: TraceRow) => row.source,
  user_id: (row: TraceRow) => row.user_id,
  source_user_id: (row: TraceRow) => row.source_user_id,
  key_id: (row: TraceRow) => row.key_id,
  project: (row: TraceRow) => row.project,
  session_id: (row: TraceRow) => row.session_id,
  tag: (row: TraceRow) => tagsOf(row.tags),
  found: ({ findings }: TraceRow) => (findings ? 'yes' : undefined),
} satisfies Record<string, (row: TraceRow) => Value | readonly Value[]>

/** The fields that listings take a minimum of; a trace without a price cost nothing. */
export const numbers = {
  latency_us: (row: TraceRow) => row.latency_us,
  cost_nano: (row: TraceRow) => row.cost?.total_nano ?? 0,
} satisfies Record<string, (row: TraceRow) => number>

/** Each tag as `name=value`; undefined for none. */
export function tagsOf(tags: TraceRow['tags']): readonly string[] | undefined {
  let values: string[] | undefined
  for (const name in tags) {
    values ??= []
    values.push(`${name}=${tags[name]}`)
  }
  return values
}
