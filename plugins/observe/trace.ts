import type { Attempt, Call, Outcome, TraceError } from '#kernel'
import { callStatus, differences, mostCallUsd, nanoOf } from '#kit'
import { growth } from './growth.ts'
import type { RowAttempt, RowCost, TraceRow } from './row.ts'

/** Characters of a message, of a name, and of any other word in a row; longer ones are cut. */
const longest = { message: 2000, name: 256, word: 200 }

/** Changes of parameters that a row tells of. */
const mostChanges = 100

const microseconds = (ms: number): number => Math.max(0, Math.round(ms * 1000))

const cut = (text: string, length: number): string => (text.length > length ? text.slice(0, length) : text)

/** The row of a call that has settled. */
export function rowOf(outcome: Outcome, call: Call, bodies: TraceRow['bodies']): TraceRow {
  const { trace, context, principal, request } = call
  const { facts, findings } = trace
  return {
    id: call.id,
    request_id: text(context.headers['x-request-id']),
    parent_id: text(facts.parent_id),
    session_id: context.sessionId,
    run_id: text(facts.run_id),
    at: trace.startedAt,
    source: context.source,
    operation: call.operation,
    wire: call.wire,
    user_id: principal.userId,
    ...sourceOf(facts.source_user_id, principal.userId),
    ...(principal.tenant !== undefined && { tenant: principal.tenant }),
    key_id: principal.keyId,
    project: context.project,
    tags: context.tags,
    model_requested: cut(request.model, longest.name),
    model: cut(modelOf(outcome, call), longest.name),
    provider: outcome.provider,
    provider_model: outcome.model,
    ...(trace.attempts.length > 0 && trace.attempts.every(({ ownKey }) => ownKey) && { own_key: true }),
    status: callStatus(outcome, call),
    status_code: outcome.status,
    error: errorOf(outcome),
    stream: call.stream,
    latency_us: microseconds(outcome.latencyMs),
    ttft_us: outcome.ttftMs === undefined ? undefined : microseconds(outcome.ttftMs),
    upstream_us: microseconds(outcome.upstreamMs),
    usage: outcome.usage,
    cost: outcome.cost && costOf(outcome.cost),
    saved_nano: outcome.saved?.totalNano,
    saved_by_autopilot_nano: savedBy(facts.autopilot),
    finish_reason: outcome.finishReason,
    cache: trace.cached && cacheOf(trace.cached),
    attempts: trace.attempts.map(attemptOf),
    timings: trace.timings.map(({ module, hook, ms }) => [module, hook, microseconds(ms)]),
    notes: trace.notes.map(({ module, verdict, detail, mode }) =>
      mode ? [module, verdict, detail, mode] : [module, verdict, detail],
    ),
    ...(trace.shadows && { shadows: trace.shadows }),
    ...passedBy(trace),
    ...(findings.length > 0 && { findings, source_ip: context.ip }),
    decisions: trace.decisions,
    params_changed: trace.paramsChanged.slice(0, mostChanges).map((change) => cut(change, longest.word)),
    facts,
    generation: context.generation,
    bodies,
  }
}

/** The other user whose words a call repeats. */
function sourceOf(fact: unknown, userId: string | undefined): Pick<TraceRow, 'source_user_id'> | undefined {
  const source = text(fact)
  return source === undefined || source === userId ? undefined : { source_user_id: source }
}

/** The fields that only some calls have: modules they passed by, and changes to them. */
function passedBy({ skips, rewrites }: Call['trace']): Pick<TraceRow, 'skips' | 'changes'> | undefined {
  if (skips.length === 0 && rewrites.length === 0) return undefined
  return {
    ...(skips.length > 0 && { skips: skips.map(({ module, condition }) => [module, condition] as const) }),
    ...(rewrites.length > 0 && {
      changes: rewrites.map(
        ({ module, of, before, after }) =>
          [module, of, differences(before, after), growth(before, after)] as const,
      ),
    }),
  }
}

/** The saving that a module reports; only whole amounts that a call can cost add up. */
function savedBy(fact: unknown): number | undefined {
  const { saved_nano: nano } = (fact ?? {}) as { readonly saved_nano?: unknown }
  return typeof nano === 'number' && Math.abs(nano) <= nanoOf(mostCallUsd) ? Math.round(nano) : undefined
}

/** The model as it was asked for in the end, without the name of the provider before it. */
function modelOf({ provider }: Outcome, { trace, request }: Call): string {
  const { model } = trace.request ?? request
  return provider !== undefined && model.startsWith(`${provider}/`) ? model.slice(provider.length + 1) : model
}

function errorOf({ error }: Outcome): TraceError | undefined {
  if (!error) return undefined
  const { providerStatus, retryable } = error as { providerStatus?: number; retryable?: boolean }
  return {
    code: error.code,
    message: cut(error.message, longest.message),
    provider_status: providerStatus,
    retryable: retryable ?? error.retryAfterS !== undefined,
  }
}

/** Money as a row holds it. */
export function costOf(cost: NonNullable<Outcome['cost']>): RowCost {
  return {
    total_nano: cost.totalNano,
    input_nano: cost.inputNano,
    output_nano: cost.outputNano,
    cache_nano: cost.cacheNano,
    other_nano: cost.otherNano,
    price_id: cost.priceId,
    source: cost.source,
    ...(cost.unpriced !== undefined && { unpriced: cost.unpriced }),
  }
}

function cacheOf({ kind, ageS, similarity }: NonNullable<Call['trace']['cached']>): TraceRow['cache'] {
  return similarity === undefined ? { kind, age_s: ageS } : { kind, age_s: ageS, similarity }
}

function attemptOf(attempt: Attempt): RowAttempt {
  return {
    n: attempt.n,
    provider: attempt.provider,
    model: attempt.model,
    key_hint: attempt.keyHint,
    status: attempt.status,
    latency_us: attempt.latencyMs === undefined ? undefined : microseconds(attempt.latencyMs),
    cost_nano: attempt.cost?.totalNano,
    error: attempt.error && cut(attempt.error.message, longest.message),
    reason_next: attempt.reasonNext,
  }
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? cut(value, longest.word) : undefined
