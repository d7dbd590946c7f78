import type { TraceBodies, TraceSummary } from '#kernel'
import { mapStrings } from '#kit'

/** The module's own fact, which says what writes the call down. */
export const fact = 'llmtap'

const longestText = 2048
const nanoPerUsd = 1e9

const milliseconds = (us: number | undefined): number | undefined =>
  us === undefined ? undefined : us / 1000

/** The fields of a record, and how each is read from a trace. */
const readers = {
  id: ({ id }) => id,
  timestamp: ({ at }) => new Date(at).toISOString(),
  request_id: ({ request_id }) => request_id,
  parent_id: ({ parent_id }) => parent_id,
  session_id: ({ session_id }) => session_id,
  source: ({ source }) => source,
  operation: ({ operation }) => operation,
  wire: ({ wire }) => wire,
  user_id: ({ user_id }) => user_id,
  source_user_id: ({ source_user_id }) => source_user_id,
  tenant: ({ tenant }) => tenant,
  key_id: ({ key_id }) => key_id,
  project: ({ project }) => project,
  tags: ({ tags }) => tags,
  model_requested: ({ model_requested }) => model_requested,
  model: ({ model }) => model,
  provider: ({ provider }) => provider,
  status: ({ status }) => status,
  status_code: ({ status_code }) => status_code,
  error: ({ error }) => error,
  stream: ({ stream }) => stream,
  finish_reason: ({ finish_reason }) => finish_reason,
  latency_ms: ({ latency_us }) => milliseconds(latency_us),
  ttft_ms: ({ ttft_us }) => milliseconds(ttft_us),
  upstream_ms: ({ upstream_us }) => milliseconds(upstream_us),
  usage: ({ usage }) => usage,
  cost_usd: ({ cost }) => cost && cost.total_nano / nanoPerUsd,
  unpriced: ({ cost }) => cost?.unpriced,
  findings: ({ findings }) => findings,
  facts: ({ facts: { [fact]: _, ...facts } }) => facts,
} satisfies Readonly<Record<string, (trace: TraceSummary) => unknown>>

export type Field = keyof typeof readers
export const fieldNames = Object.keys(readers) as [Field, ...Field[]]

/** Fields that can tell of a person even when the trace is gone. */
const personal: ReadonlySet<Field> = new Set(['session_id', 'key_id', 'tags', 'facts'])

interface RecordForm {
  readonly fields: 'all' | readonly Field[]
  readonly bodies: 'none' | 'truncated' | 'full'
  /** What a text of a body is written as. */
  readonly clean: (text: string) => string
  /** Whether erasures look for it: what can tell of a person then says whose it is, whatever the fields. */
  readonly isErasable: boolean
}

/** The record of a call as one line of JSON, which ends it. What a call does not have is left out. */
export function lineOf(
  trace: TraceSummary,
  bodies: TraceBodies | undefined,
  { fields, bodies: kept, clean, isErasable }: RecordForm,
): string {
  const record: Record<string, unknown> = {}
  const told = fields === 'all' ? fieldNames : fields
  for (const name of told) record[name] = readers[name](trace)
  if (isErasable && (bodies || told.some((name) => personal.has(name))))
    for (const name of ['user_id', 'source_user_id'] as const) record[name] = readers[name](trace)
  for (const side of ['request', 'response'] as const) {
    const body = bodies?.[side]
    if (body === undefined) continue
    const cleaned = mapStrings(body, clean)
    record[side] = kept === 'full' ? cleaned : cut(JSON.stringify(cleaned))
  }
  return `${JSON.stringify(record)}\n`
}

const cut = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText).toWellFormed()}…` : text
