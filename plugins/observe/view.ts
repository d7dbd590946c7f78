import type { z } from 'zod'
import type { TraceFinding } from '#kernel'
import { usdOf } from '#kit'
import type { Arrangement } from './arrangements.ts'
import type { Bodies } from './body.ts'
import { operatedModules } from './operated.ts'
import type { RowCost, TraceRow } from './row.ts'
import type { TraceDetail, TraceItem, traceCost } from './shapes.ts'
import { toolUseIn } from './tool-use.ts'

const isoOf = (at: number): string => new Date(at).toISOString()
const msOf = (us: number): number => us / 1000

/** The trace of a row, without its bodies. */
export function itemOf(row: TraceRow): TraceItem {
  const { usage: used } = row
  return {
    id: row.id,
    request_id: row.request_id ?? null,
    parent_id: row.parent_id ?? null,
    session_id: row.session_id ?? null,
    run_id: row.run_id ?? null,
    timestamp: isoOf(row.at),
    completed_at: isoOf(row.at + msOf(row.latency_us)),
    source: row.source,
    operation: row.operation,
    wire: row.wire,
    user_id: row.user_id ?? null,
    ...(row.tenant !== undefined && { tenant: row.tenant }),
    key_id: row.key_id,
    project: row.project,
    tags: { ...row.tags },
    model_requested: row.model_requested,
    model: row.model,
    provider: row.provider ?? null,
    provider_model: row.provider_model ?? null,
    status: row.status,
    status_code: row.status_code ?? null,
    error: row.error ? { ...row.error, provider_status: row.error.provider_status ?? null } : null,
    stream: row.stream,
    latency_ms: msOf(row.latency_us),
    ttft_ms: row.ttft_us === undefined ? null : msOf(row.ttft_us),
    upstream_ms: msOf(row.upstream_us),
    overhead_ms: msOf(Math.max(0, row.latency_us - row.upstream_us)),
    tokens_per_second: tokensPerSecond(row),
    usage: {
      input: used.input,
      output: used.output,
      cached_read: used.cachedRead,
      cache_write_5m: used.cacheWrite5m,
      cache_write_1h: used.cacheWrite1h,
      reasoning: used.reasoning,
      audio_in: used.audioIn,
      audio_out: used.audioOut,
      image_in: used.imageIn,
      source: used.source,
    },
    tokens_in: used.input,
    tokens_out: used.output,
    cost_usd: row.cost ? usdOf(row.cost.total_nano) : used.source === 'none' || row.cache ? 0 : null,
    cost: row.cost || row.saved_nano !== undefined ? costOf(row.cost, row.saved_nano ?? 0) : null,
    finish_reason: row.finish_reason ?? null,
    cached: row.cache !== undefined,
    cache: row.cache ?? null,
    guardrails: (row.findings ?? []).map(guardrailOf),
    params_dropped: row.params_changed
      .filter((change) => change.startsWith('-'))
      .map((name) => name.slice(1)),
    params_renamed: row.params_changed.filter((change) => !change.startsWith('-')),
    decisions: row.decisions.map(({ considered, ...rest }) =>
      considered ? { ...rest, considered: [...considered] } : rest,
    ),
    chain_generation: row.generation ?? null,
  }
}

/** A finding as the API shows it. */
export function guardrailOf(found: TraceFinding): TraceItem['guardrails'][number] {
  const { module, type, severity, action, direction, label, ruleId, confidence, spans, count, mode } = found
  return {
    rule_id: ruleId ?? null,
    module,
    type,
    severity,
    action,
    direction: direction === 'reply' ? 'response' : direction,
    label,
    count,
    spans: [...spans],
    confidence: confidence ?? null,
    shadow: mode === 'shadow',
  }
}

/** The trace of a row with its bodies, if they are still there, and the chain that it ran on, if that is known. */
export function detailOf(row: TraceRow, bodies: Bodies | undefined, arrangement?: Arrangement): TraceDetail {
  const versions = new Map(arrangement?.modules.map(({ name, version }) => [name, version]))
  const item = itemOf(row)
  return {
    ...item,
    usage: { ...item.usage, ...toolUseIn(bodies?.response) },
    native_finish_reason: nativeReasonIn(bodies?.response) ?? null,
    attempts: row.attempts.map((attempt) => ({
      n: attempt.n,
      provider: attempt.provider,
      model: attempt.model,
      key_hint: attempt.key_hint ?? null,
      status: attempt.status ?? null,
      latency_ms: attempt.latency_us === undefined ? null : msOf(attempt.latency_us),
      cost_usd: attempt.cost_nano === undefined ? null : usdOf(attempt.cost_nano),
      error: attempt.error ?? null,
      reason_next: attempt.reason_next ?? null,
    })),
    feedback: null,
    modules: operatedModules(row).map(({ module, changed, ...rest }) => ({
      module,
      version: versions.get(module) ?? null,
      ...rest,
      changed: [...changed],
    })),
    config_hash: arrangement?.config_hash ?? null,
    facts: { ...row.facts },
    request: bodies?.request ?? null,
    response: bodies?.response ?? null,
    body_status: bodyStatus(row, bodies),
  }
}

/** The provider's own word for the end of the first choice of an answer. */
function nativeReasonIn(response: unknown): string | undefined {
  const { choices } = (response ?? {}) as { readonly choices?: unknown }
  const [first] = Array.isArray(choices) ? (choices as readonly unknown[]) : []
  const { native_finish_reason: native } = (first ?? {}) as { readonly native_finish_reason?: unknown }
  return typeof native === 'string' ? native : undefined
}

function bodyStatus(row: TraceRow, bodies: Bodies | undefined): TraceDetail['body_status'] {
  if (row.bodies !== 'stored') return row.bodies
  if (!bodies) return 'expired'
  if (bodies.erased) return bodies.unreadable ? 'unreadable' : 'erased'
  const { stream } = row.facts as { stream?: { truncated?: boolean } }
  return bodies.truncated || stream?.truncated ? 'truncated' : 'stored'
}

/** Output over the time in which it came: from the first token on when it was streamed, else the provider's time. */
function tokensPerSecond({ usage: used, stream, latency_us, ttft_us, upstream_us }: TraceRow): number | null {
  const us = stream && ttft_us !== undefined ? latency_us - ttft_us : upstream_us
  return used.output > 0 && us > 0 ? Math.round((used.output / us) * 1e8) / 100 : null
}

function costOf(spent: RowCost | undefined, savedNano: number): z.infer<typeof traceCost> {
  return {
    input: usdOf(spent?.input_nano ?? 0),
    output: usdOf(spent?.output_nano ?? 0),
    cache: usdOf(spent?.cache_nano ?? 0),
    other: usdOf(spent?.other_nano ?? 0),
    price_id: spent?.price_id ?? null,
    source: spent?.source ?? null,
    ...(spent?.unpriced !== undefined && { unpriced: spent.unpriced }),
    saved_usd: usdOf(savedNano),
  }
}
