import type { Arranged, Pricing } from '#kernel'
import { usdOf } from '#kit'
import type { TraceRow } from '../row.ts'
import { modulesOf } from './modules.ts'
import { billOf } from './price.ts'
import type { TraceExplanation } from './shapes.ts'

/** Why a call became what it became: from its row, how the chain was arranged, and the prices of its time. */
export function explained(
  row: TraceRow,
  arrangement: readonly Arranged[] | undefined,
  prices: Pricing,
): TraceExplanation {
  const modules = modulesOf(row, arrangement ?? [])
  return {
    trace_id: row.id,
    status: row.status,
    status_code: row.status_code ?? null,
    error: row.error ? { code: row.error.code, message: row.error.message } : null,
    generation: row.generation ?? null,
    arrangement: arrangement ? 'kept' : 'unknown',
    modules,
    route: routeOf(row),
    price: billOf(row, prices),
    times: {
      total_us: row.latency_us,
      provider_us: row.upstream_us,
      gateway_us: Math.max(0, row.latency_us - row.upstream_us),
      modules_us: modules.reduce((sum, { us }) => sum + us, 0),
    },
  }
}

function routeOf(row: TraceRow): TraceExplanation['route'] {
  return {
    model_requested: row.model_requested,
    model: row.model,
    provider: row.provider ?? null,
    provider_model: row.provider_model ?? null,
    decisions: row.decisions.map(({ considered, ...rest }) =>
      considered ? { ...rest, considered: [...considered] } : rest,
    ),
    attempts: row.attempts.map(
      ({ key_hint, status, latency_us, cost_nano, error, reason_next, ...rest }) => ({
        ...rest,
        key_hint: key_hint ?? null,
        status: status ?? null,
        us: latency_us ?? null,
        cost_usd: cost_nano === undefined ? null : usdOf(cost_nano),
        error: error ?? null,
        reason_next: reason_next ?? null,
      }),
    ),
    cache: row.cache ? { kind: row.cache.kind, age_s: row.cache.age_s } : null,
    params_changed: [...row.params_changed],
  }
}
