import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { runs } from '../../test/suite/runs.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { TraceItem } from './shapes.ts'

const day = 86_400_000

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** Calls made elsewhere in the last days, with odd costs. */
const manual = fc.record(
  {
    model: fc.constantFrom('gpt-4o', 'gpt-4o-mini', 'claude/odd name', 'x/y/2026'),
    provider: fc.constantFrom('openai', 'elsewhere', 'a/b'),
    project: fc.constantFrom('default', 'docs', 'a/b/c'),
    usage: fc.record({ input: fc.nat(100_000), output: fc.nat(100_000) }),
    cost_usd: fc.nat(1_000_000_007).map((nano) => nano / 1e9),
    latency_ms: fc.nat(50_000_000).map((us) => us / 1000),
    status: fc.constantFrom('ok', 'error', 'timeout', 'blocked', 'cache_hit'),
    timestamp: fc.nat(5 * day).map((ago) => new Date(Date.now() - ago).toISOString()),
  },
  { requiredKeys: ['model', 'usage'] },
)

/** Calls through the gateway: plain, streamed, failing, without a price. */
const proxied = fc.record({
  model: fc.constantFrom('gpt-4o', 'gpt-4o-mini', 'no-such-model', 'openai/unpriced'),
  stream: fc.boolean(),
  prompt_tokens: fc.nat(10_000),
  completion_tokens: fc.nat(10_000),
})

type Figures = Record<string, number>
type Line = Record<'requests' | 'cost_usd' | 'tokens_in' | 'tokens_out', number> & Record<string, unknown>

test('what calls cost and how many there were is what their traces add up to, to the nano-dollar', async () => {
  let users = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(manual, { maxLength: 30 }),
      fc.array(proxied, { maxLength: 10 }),
      async (told, made) => {
        users += 1
        const { key } = await gateway.signUp(`user${users}`)
        for (const trace of told) {
          expect((await gateway.api('POST', '/api/observe/traces', trace, key)).status).toBe(201)
        }
        for (const call of made) await proxy(key, call)
        await expect.poll(async () => (await traces(key)).length).toBe(told.length + made.length)
        await compare(key)
      },
    ),
    runs(12),
  )
  await compare(gateway.adminKey)
})

async function proxy(
  key: string,
  { model, stream, ...tokens }: { model: string; stream: boolean },
): Promise<void> {
  upstream.reset()
  upstream.reply({ usage: { ...tokens, total_tokens: 0 } })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
  })
  await response.text()
}

async function get<T>(path: string, key: string): Promise<T> {
  return (await gateway.api('GET', `/api/observe/${path}`, undefined, key)).body
}

async function traces(key: string): Promise<TraceItem[]> {
  const all: TraceItem[] = []
  for (let more = true; more; ) {
    const page = await get<{ traces: TraceItem[]; has_more: boolean }>(
      `traces?limit=500&offset=${all.length}`,
      key,
    )
    all.push(...page.traces)
    more = page.has_more
  }
  return all
}

/** A user's figures include the traces that the user reported; those of all users show them apart, and leave them out. */
async function compare(key: string): Promise<void> {
  const listed = await traces(key)
  const told = listed.filter(({ source }) => source === 'manual')
  const all = key === gateway.adminKey ? listed.filter((trace) => !told.includes(trace)) : listed
  const overview = await get<Figures & { today: Figures; manual: Line }>('overview', key)
  expect(overview.manual.requests).toBe(told.length)
  expect(nano(overview.manual.cost_usd)).toBe(sum(told, (t) => nano(t.cost_usd ?? 0)))
  expect(wholeOf(overview)).toEqual(expectedOf(all))
  expect(overview.avg_latency_ms).toBeCloseTo(mean(all.map((t) => t.latency_ms)), 6)
  const startOfToday = Math.floor(Date.now() / day) * day
  expect(wholeOf(overview.today)).toEqual(
    expectedOf(all.filter((t) => Date.parse(t.timestamp) >= startOfToday)),
  )

  const costs = await get<Record<string, Line[]> & { total_usd: number; unpriced?: number; manual: Line }>(
    'costs?days=7',
    key,
  )
  expect(costs.manual).toEqual(overview.manual)
  expect(nano(costs.total_usd)).toBe(sum(all, (t) => nano(t.cost_usd ?? 0)))
  expect(costs.unpriced).toBe(unpricedIn(all))
  expect(linesOf(costs.by_provider as Line[], 'provider')).toEqual(groups(all, (t) => t.provider))
  expect(linesOf(costs.by_project as Line[], 'project')).toEqual(groups(all, (t) => t.project))
  expect(linesOf(costs.by_model as Line[], 'model')).toEqual(
    groups(all, (t) => (t.provider || t.cached ? t.model : null)),
  )

  const { daily } = await get<{ daily: Line[] }>('costs/daily?days=7', key)
  expect(daily).toHaveLength(7)
  const busy = daily.filter(({ requests }) => requests > 0)
  expect(linesOf(busy, 'date')).toEqual(groups(all, (t) => t.timestamp.slice(0, 10)))
  expect(sum(daily, (line) => line.errors as number)).toBe(sum(all, isError))

  for (const query of ['period=7d', 'period=30d&bucket=3600', 'period=7d&bucket=86400']) {
    const { points } = await get<{ points: Line[] }>(`timeseries?${query}`, key)
    expect(sum(points, ({ requests }) => requests)).toBe(all.length)
    expect(sum(points, ({ cost_usd }) => nano(cost_usd))).toBe(sum(all, (t) => nano(t.cost_usd ?? 0)))
    expect(sum(points, ({ unpriced }) => (unpriced as number) ?? 0)).toBe(unpricedIn(all) ?? 0)
    expect(sum(points, (point) => point.errors as number)).toBe(sum(all, isError))
  }
  for (const query of ['period=1h', 'period=24h&bucket=300', 'period=24h']) {
    const { points } = await get<{ points: (Line & { bucket: string })[] }>(`timeseries?${query}`, key)
    const from = Date.parse(points[0]!.bucket)
    const recent = all.filter((t) => Date.parse(t.timestamp) >= from)
    expect(sum(points, ({ requests }) => requests)).toBe(recent.length)
    expect(sum(points, ({ tokens_out }) => tokens_out)).toBe(sum(recent, (t) => t.tokens_out))
  }
}

const nano = (usd: number): number => Math.round(usd * 1e9)
const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0)
const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : sum(values, (v) => v) / values.length
const isError = ({ status }: TraceItem): number => Number(status === 'error' || status === 'timeout')
const share = (all: readonly TraceItem[], of: (t: TraceItem) => number): number =>
  all.length === 0 ? 0 : sum(all, of) / all.length

/** The calls that used tokens without a price; undefined for none. */
function unpricedIn(all: readonly TraceItem[]): number | undefined {
  const found = all.filter((t) =>
    t.cost_usd === null ? t.tokens_in + t.tokens_out > 0 : t.cost?.unpriced !== undefined,
  )
  return found.length || undefined
}

const wholeOf = (figures: Figures) => ({
  requests: figures.total_requests,
  cost: nano(figures.total_cost_usd!),
  unpriced: figures.unpriced,
  errors: figures.error_rate,
  hits: figures.cache_hit_rate,
  tokens: [figures.tokens_in, figures.tokens_out],
})

const expectedOf = (all: readonly TraceItem[]) => ({
  requests: all.length,
  cost: sum(all, (t) => nano(t.cost_usd ?? 0)),
  unpriced: unpricedIn(all),
  errors: share(all, isError),
  hits: share(all, ({ status }) => Number(status === 'cache_hit')),
  tokens: [sum(all, (t) => t.tokens_in), sum(all, (t) => t.tokens_out)],
})

function linesOf(lines: readonly Line[], name: string) {
  return Object.fromEntries(
    lines.map((line) => [
      String(line[name]),
      [line.requests, nano(line.cost_usd), line.unpriced, line.tokens_in, line.tokens_out],
    ]),
  )
}

function groups(all: readonly TraceItem[], of: (trace: TraceItem) => string | null) {
  return Object.fromEntries(
    [...Map.groupBy(all, of)].map(([name, group]) => [
      String(name),
      [
        group.length,
        sum(group, (t) => nano(t.cost_usd ?? 0)),
        unpricedIn(group),
        sum(group, (t) => t.tokens_in),
        sum(group, (t) => t.tokens_out),
      ],
    ]),
  )
}
