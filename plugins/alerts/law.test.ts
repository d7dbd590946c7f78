import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TraceReader, TraceSummary } from '#kernel'
import { runs } from '../../test/suite/runs.ts'
import { preview } from './preview.ts'
import type { RuleRow } from './rule-fields.ts'

/** Rules against the definition of what they mean, over the same traces: no windows, no sums that are kept. */

const start = Date.UTC(2026, 0, 5)
const minuteMs = 60_000
const names = ['a', 'b', 'c']
const sources = ['proxy', 'proxy', 'proxy', 'batch', 'plugin:judge', 'manual']
const statuses = ['ok', 'ok', 'cache_hit', 'error', 'timeout', 'blocked', 'rate_limited']

const aName = fc.constantFrom(...names)
const anAttempt = fc.record({
  provider: aName,
  model: aName,
  status: fc.constantFrom(undefined, 200, 400, 429, 500, 503),
  error: fc.constantFrom(undefined, 'failed'),
})

const aTrace = fc
  .record({
    // On a coarse grid, so that calls meet the borders of parts.
    offset: fc.nat(60).map((n) => n * 5000),
    latency_us: fc.constantFrom(0, 1000, 2000, 3000, 1_000_000),
    waited: fc.double({ min: 0, max: 1, noNaN: true }),
    ttft_us: fc.option(
      fc.nat(4).map((ms) => ms * 1000),
      { nil: undefined },
    ),
    source: fc.constantFrom(...sources),
    status: fc.constantFrom(...statuses),
    model: aName,
    provider: fc.option(aName, { nil: undefined }),
    user_id: fc.option(aName, { nil: undefined }),
    project: aName,
    input: fc.nat(1000),
    output: fc.nat(1000),
    cost: fc.option(fc.nat(1_000_000_000), { nil: undefined }),
    attempts: fc.array(anAttempt, { maxLength: 3 }),
    budget: fc.option(fc.integer({ min: 0, max: 120_000 }), { nil: undefined }),
    isShadow: fc.boolean(),
    finding: fc.constantFrom(undefined, 'block', 'warn'),
    isLeftOut: fc.nat(9).map((n) => n === 0),
  })
  .map(
    ({ offset, waited, input, output, cost, budget, isShadow, finding, isLeftOut, ...rest }) =>
      ({
        ...rest,
        id: `req_${offset}`,
        at: start + offset,
        operation: 'chat',
        session_id: undefined,
        key_id: 'key_1',
        tags: {},
        model_requested: rest.model,
        stream: false,
        upstream_us: Math.round(rest.latency_us * waited),
        usage: { input, output } as TraceSummary['usage'],
        cost: cost === undefined ? undefined : { total_nano: cost },
        ...(finding && { findings: [{ action: finding, ...(isShadow && { mode: 'shadow' }) }] }),
        facts: {
          ...(budget !== undefined && { budget: { used_pct: budget / 1000 } }),
          ...(isLeftOut && { alerts: 'left out' }),
        },
      }) as unknown as TraceSummary,
  )

const metricsOf = {
  cost_usd: 1e9,
  cost_per_min: 1e8,
  error_rate: 1,
  latency_avg: 4,
  latency_p50: 4,
  latency_p95: 4,
  latency_p99: 4,
  ttft_p95: 4,
  request_rate: 4,
  tokens_per_request: 2000,
  cache_hit_rate: 1,
  provider_errors: 5,
  guardrail_blocks: 5,
  budget_used_pct: 120,
  overhead_p99: 4,
} as const

const aRule = fc
  .record({
    metric: fc.constantFrom(...(Object.keys(metricsOf) as (keyof typeof metricsOf)[])),
    condition: fc.constantFrom('gt' as const, 'gte' as const, 'lt' as const, 'lte' as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    window_seconds: fc.constantFrom(10, 60, 120, 121),
    min_samples: fc.constantFrom(0, 1, 1, 3),
    group_by: fc.constantFrom(
      'none' as const,
      'model' as const,
      'provider' as const,
      'user' as const,
      'project' as const,
    ),
    cooldown_seconds: fc.constantFrom(null, 0, 30),
    filter: fc.record(
      {
        model: fc.constantFrom<string[]>(['a'], ['?'], ['b', 'c']),
        provider: fc.subarray(names, { minLength: 1 }),
        user_id: fc.subarray(names, { minLength: 1 }),
        project: fc.subarray(names, { minLength: 1 }),
        source: fc.subarray(['proxy' as const, 'batch' as const, 'plugin' as const], { minLength: 1 }),
      },
      { requiredKeys: [] },
    ),
  })
  .map(
    ({ share, ...rest }): RuleRow => ({
      ...rest,
      id: 'al_1',
      name: 'a rule',
      threshold: share * metricsOf[rest.metric] * (rest.metric.startsWith('cost') ? 1e-9 : 1),
      severity: 'warning',
      channels: [],
      enabled: true,
      created_at: '',
      updated_at: '',
    }),
  )

/** A value that counts for a rule. */
interface Counted {
  readonly at: number
  readonly group: string
  readonly value: number
}

/** What a trace says of the metric, in the metric's own unit. */
function valuesOf({ metric, filter, group_by }: RuleRow, trace: TraceSummary): Counted[] {
  if (trace.facts.alerts === 'left out') return []
  const places =
    metric === 'provider_errors'
      ? trace.attempts.map(({ provider, model, status, error }) => ({
          provider,
          model,
          value: error !== undefined && !(status !== undefined && status >= 400 && status < 500) ? 1 : 0,
        }))
      : [{ provider: trace.provider, model: trace.model, value: amountOf(metric, trace) }]
  const source = trace.source.startsWith('plugin') ? 'plugin' : trace.source
  return places.flatMap(({ provider, model, value }) => {
    const isWanted =
      value !== undefined &&
      (filter.source ?? ['proxy']).includes(source as 'proxy') &&
      (!filter.model || filter.model.includes('?') || filter.model.includes(model)) &&
      (!filter.provider || filter.provider.includes(provider ?? '')) &&
      (!filter.user_id || filter.user_id.includes(trace.user_id ?? '')) &&
      (!filter.project || filter.project.includes(trace.project))
    if (!isWanted) return []
    const groups = {
      none: null,
      model,
      provider: provider ?? '(none)',
      user: trace.user_id ?? '(none)',
      project: trace.project,
    }
    return [
      { at: trace.at + Math.round(trace.latency_us / 1000), group: String(groups[group_by] ?? ''), value },
    ]
  })
}

function amountOf(metric: RuleRow['metric'], trace: TraceSummary): number | undefined {
  switch (metric) {
    case 'cost_usd':
    case 'cost_per_min':
      return (trace.cost?.total_nano ?? 0) * 1e-9
    case 'error_rate':
      return ['error', 'timeout'].includes(trace.status) ? 1 : 0
    case 'ttft_p95':
      return trace.ttft_us === undefined ? undefined : trace.ttft_us / 1000
    case 'request_rate':
      return 1
    case 'tokens_per_request':
      return trace.usage.input + trace.usage.output
    case 'cache_hit_rate':
      return trace.status === 'cache_hit' ? 1 : 0
    case 'guardrail_blocks':
      return trace.status === 'blocked' ||
        trace.findings?.some(({ action, mode }) => action === 'block' && mode !== 'shadow')
        ? 1
        : 0
    case 'budget_used_pct':
      return (trace.facts.budget as { used_pct: number } | undefined)?.used_pct
    case 'overhead_p99':
      return (trace.latency_us - trace.upstream_us) / 1000
    default:
      return trace.latency_us / 1000
  }
}

/** The metric of the values of a window; undefined for none. */
function metricOf({ metric, window_seconds }: RuleRow, values: readonly number[]): number | undefined {
  const sum = values.reduce((a, b) => a + b, 0)
  if (['cost_usd', 'provider_errors', 'guardrail_blocks'].includes(metric)) return sum
  if (['cost_per_min', 'request_rate'].includes(metric)) return (sum / window_seconds) * 60
  if (values.length === 0) return undefined
  if (metric === 'budget_used_pct') return Math.max(...values)
  const share = { p50: 0.5, p95: 0.95, p99: 0.99 }[metric.slice(-3)]
  if (share === undefined) return sum / values.length
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1]
}

/** Quantiles may be off by so much; sums only by what adding in another order does. */
const tolerance = ({ metric }: RuleRow): number => (/_p\d\d$/.test(metric) ? 0.023 : 1e-9)

const isNear = (a: number, b: number, share: number): boolean =>
  Math.abs(a - b) <= share * Math.max(Math.abs(a), Math.abs(b)) + 1e-12

const holds = ({ condition, threshold }: RuleRow, value: number): boolean =>
  ({ gt: value > threshold, gte: value >= threshold, lt: value < threshold, lte: value <= threshold })[
    condition
  ]

interface Fired {
  readonly group: string | null
  readonly firedAt: number
  readonly value: number
  resolvedAt?: number
}

/** The firings of a rule; undefined where a value is so near to the threshold that the precision decides. */
function bruteForce(
  rule: RuleRow,
  traces: readonly TraceSummary[],
  from: number,
  to: number,
  stepMs: number,
): Fired[] | undefined {
  const counted = traces.flatMap((trace) => valuesOf(rule, trace))
  const partMs = (rule.window_seconds * 1000) / 60
  const cooldownMs = (rule.cooldown_seconds ?? rule.window_seconds) * 1000
  const all: Fired[] = []
  const last = new Map<string, Fired>()
  const touched = new Set<string>()
  for (let now = from; now < to; now += stepMs) {
    const until = Math.floor(now / partMs)
    const seen = counted.filter(({ at }) => at <= now)
    const inWindow = seen.filter(({ at }) => Math.floor(at / partMs) > until - 60)
    const recent = seen.filter(({ at }) => at > now - stepMs)
    const groups = new Set(
      rule.group_by === 'none' ? [''] : [...[...inWindow, ...recent].map(({ group }) => group), ...touched],
    )
    for (const group of [...groups]) {
      const values = inWindow.filter((one) => one.group === group).map(({ value }) => value)
      const value = metricOf(rule, values)
      const before = last.get(group)
      const isFiring = before !== undefined && before.resolvedAt === undefined
      if (
        value !== undefined &&
        values.length >= rule.min_samples &&
        isNear(value, rule.threshold, tolerance(rule))
      )
        return undefined
      const isBreach = value !== undefined && values.length >= rule.min_samples && holds(rule, value)
      if (isFiring && !isBreach) before.resolvedAt = now
      if (!isFiring && isBreach && (!before || now - before.firedAt >= cooldownMs)) {
        const fired = { group: group === '' ? null : group, firedAt: now, value: value! }
        all.push(fired)
        last.set(group, fired)
      }
      // A group without values is looked at once more, and for as long as it fires.
      const stays = values.length > 0 || (last.has(group) && last.get(group)!.resolvedAt === undefined)
      if (stays) touched.add(group)
      else touched.delete(group)
    }
  }
  return all
}

/** Traces as observe reads them: newest first. */
async function* scanned(traces: readonly TraceSummary[]) {
  yield* traces.toSorted((a, b) => b.at - a.at)
}

const byTime = (a: Fired, b: Fired): number =>
  a.firedAt - b.firedAt || String(a.group).localeCompare(String(b.group))

test('a rule fires and resolves as its definition says, for any rule and any traces', async () => {
  await fc.assert(
    fc.asyncProperty(aRule, fc.array(aTrace, { maxLength: 80, size: 'max' }), async (rule, traces) => {
      const everyMs = 10_000
      const [from, to] = [start - minuteMs, start + 10 * minuteMs]
      const stepMs = Math.max(everyMs, (rule.window_seconds * 1000) / 60)
      const expected = bruteForce(rule, traces, from, to, stepMs)
      fc.pre(expected !== undefined)
      const pulse = { everyMs, cooldownMs: undefined, mostGroups: 1000 }
      const signal = new AbortController().signal
      const question = { from, to, pulse, mostShown: 10_000, budgetMs: 60_000, signal }
      const reader = { scan: () => scanned(traces) } as Partial<TraceReader> as TraceReader
      const found = await preview(rule, reader, question)
      expect(found.complete).toBe(true)
      const shown = found.shown.toSorted(byTime)
      const wanted = expected!.toSorted(byTime)
      expect(shown.map(({ value: _, ...rest }) => rest)).toEqual(wanted.map(({ value: _, ...rest }) => rest))
      for (const [i, { value }] of shown.entries())
        expect(isNear(value, wanted[i]!.value, tolerance(rule))).toBe(true)
    }),
    runs(400),
  )
}, 120_000)
