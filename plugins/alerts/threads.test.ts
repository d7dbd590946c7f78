import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/**
 * Random rules over real calls, on one thread and on four, against the traces that the API shows; then a kill.
 * `ALERT_RULES=300` is the full form.
 */
const ruleCount = Number(process.env.ALERT_RULES ?? 15)
const callCount = Number(process.env.ALERT_CALLS ?? 40)

/** Milliseconds between two looks at what the gateway finds once in a second. */
const interval = 250

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const alertsPath = '/api/observe/alerts'

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  readonly body: any
}

// biome-ignore lint/suspicious/noExplicitAny: traces as the API shows them
type Shown = any

describe.each([1, 4])('on %i threads', (threads) => {
  let folder: string
  let upstream: Upstream
  let receiver: Receiver
  let gateway: GatewayProcess
  const users: { id: string; key: string }[] = []

  /** A request on a connection of its own, which the system gives to any thread. */
  function send(method: string, at: string, body?: object, key = adminKey, more = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more }
      const sent = request(gateway.url + at, { method, headers, agent: new Agent() }, async (answer) => {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk as Buffer)
        const text = Buffer.concat(chunks).toString()
        resolve({ status: answer.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text })
      })
      sent.on('error', reject)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  async function demand(method: string, at: string, body?: object): Promise<Shown> {
    const answer = await send(method, at, body)
    expect([at, answer.status, answer.body]).toEqual([at, method === 'POST' ? 201 : 200, expect.anything()])
    return answer.body
  }

  const start = async (): Promise<void> => {
    gateway = await startProcess({}, folder)
  }

  /** Call number n: of some user, project and model, that ends well, fails or is blocked. */
  async function call(n: number): Promise<void> {
    const { key } = users[n % users.length]!
    const content = n % 7 === 3 ? 'a forbidden word' : `Hello ${n % 11}`
    const model = ['gpt-4o-mini', 'gpt-4o', 'mock/echo'][n % 3]!
    const user = n % 5 === 0 && n % 2 === 0 ? 'fails' : 'stays'
    const body = { model, user, stream: n % 4 === 1, messages: [{ role: 'user', content }] }
    await send('POST', '/v1/chat/completions', body, key, { 'x-project': `p${n % 4}` })
  }

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'switchyard-alerts-'))
    upstream = await startUpstream()
    receiver = await startReceiver()
    const times = Number.POSITIVE_INFINITY
    upstream.reply({ text: '"user":"fails"' }, { status: 503, times })
    upstream.reply({ content: 'Hi there', times })
    const price = { input_usd_per_m: 1000, output_usd_per_m: 3000 }
    await writeFile(
      path.join(folder, 'service.yaml'),
      stringify({
        admin_key: adminKey,
        server: { threads },
        auth: { admin_rpm: 1_000_000, signup_per_hour: 0 },
        egress: { allow: ['127.0.0.1'] },
        prices: { 'openai/gpt-4o-mini': price, 'openai/gpt-4o': price },
        providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
        modules: {
          rateshield: { enabled: false },
          planquota: { enabled: false },
          retrypilot: { enabled: false },
          alertpulse: { config: { check_interval_s: 1 } },
        },
      }),
    )
    await start()
    for (const name of ['ada', 'bob', 'cyn']) {
      const { body } = await send('POST', '/api/auth/signup', { email: `${name}@example.com`, name })
      users.push({ id: body.user_id, key: body.api_key })
    }
    await demand('PUT', `/api/users/${users[0]!.id}/spend/cap`, { daily_cap: 10, action: 'warn' })
    await demand('POST', '/api/guardrails', {
      name: 'word',
      type: 'custom',
      pattern: 'forbidden',
      action: 'block',
    })
    await demand('POST', '/api/webhooks', { name: 'all', url: `${receiver.url}/alerts`, events: ['alert.*'] })
  }, 60_000)

  afterAll(async () => {
    await gateway.end('SIGKILL')
    await upstream.close()
    await receiver.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** What the webhook was told, each message once: after a kill it may come again with its id. */
  const messages = (event: string): Shown[] => {
    const all = new Map(
      receiver.on('/alerts').map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body)]),
    )
    return [...all.values()].filter((one) => one.event === event).map(({ data }) => data)
  }
  const told = (event: string, id: string) => messages(event).filter(({ alert_id }) => alert_id === id)

  const openGroups = async (id: string): Promise<(string | null)[]> => {
    const { history } = (await send('GET', `${alertsPath}/history?alert_id=${id}&limit=500`)).body
    return history
      .filter((row: Shown) => row.resolved_at === null)
      .map(({ group }: Shown) => group)
      .sort()
  }

  async function traces(): Promise<Shown[]> {
    const { traces: items } = (await send('GET', '/api/observe/traces?limit=500')).body
    return Promise.all(
      items.map(async ({ id }: Shown) => (await send('GET', `/api/observe/traces/${id}`)).body),
    )
  }

  test(`${ruleCount} rules say what the traces say, before a kill and after it, and are told once`, async () => {
    const half = Math.ceil(ruleCount / 2)
    const rules: Shown[] = []
    // Half of the rules are there before the calls, and half come when all calls are over.
    for (let n = 0; n < half; n += 1) rules.push(await demand('POST', alertsPath, ruleNumber(n)))
    for (let n = 0; n < callCount; n += 10)
      await Promise.all(Array.from({ length: Math.min(10, callCount - n) }, (_, i) => call(n + i)))
    for (let n = half; n < ruleCount; n += 1) rules.push(await demand('POST', alertsPath, ruleNumber(n)))

    const written = async () => (await send('GET', '/api/observe/traces?limit=500')).body.traces.length
    await expect.poll(written, { timeout: 20_000, interval }).toBe(callCount)
    const all = await traces()
    const agree = async (): Promise<void> => {
      for (const rule of rules) {
        const expected = groupsOf(rule, all)
        const breached = [...expected].filter(([, value]) => isBreach(rule, value)).map(([group]) => group)
        const worst = worstOf(rule, [...expected.values()])
        await expect
          .poll(async () => [rule.metric, rule.group_by, await openGroups(rule.id)], {
            timeout: 30_000,
            interval,
          })
          .toEqual([rule.metric, rule.group_by, breached.toSorted()])
        const state = breached.length > 0 ? 'firing' : worst === undefined ? 'no_data' : 'ok'
        const shown = async () => {
          const { last_value: last, state } = await demand('GET', `${alertsPath}/${rule.id}`)
          const isNear = worst === undefined ? last === null : Math.abs(last - worst) <= 0.023 * worst + 1e-9
          return [rule.metric, state, isNear || last]
        }
        await expect.poll(shown, { timeout: 30_000, interval }).toEqual([rule.metric, state, true])
      }
    }
    const firedIds = () =>
      messages('alert.fired')
        .map(({ history_id }) => history_id as string)
        .sort()
    const counts = () => ['alert.fired', 'alert.resolved'].map((event) => messages(event).length)
    const entries = async () => {
      const ids: string[] = []
      for (;;) {
        const { history, has_more } = (
          await send('GET', `${alertsPath}/history?limit=500&offset=${ids.length}`)
        ).body
        ids.push(...history.map(({ id }: Shown) => id))
        if (!has_more) return ids.sort()
      }
    }
    await agree()
    await expect
      .poll(async () => [await entries(), firedIds()], { timeout: 20_000, interval })
      .toSatisfy(([a, b]) => a.join() === b.join())
    const before = counts()
    await gateway.end('SIGKILL')
    await start()
    await agree()
    expect(await entries()).toEqual(firedIds())
    expect(counts()).toEqual(before)
  }, 240_000)

  test('what fires at a kill is told once, and its end once, when it is over', async () => {
    const rule = await demand('POST', alertsPath, {
      name: 'short',
      metric: 'request_rate',
      condition: '>',
      threshold: 0,
      window: '10s',
      filter: { project: 'short' },
    })
    await send(
      'POST',
      '/v1/chat/completions',
      { model: 'mock/echo', messages: [{ role: 'user', content: 'Hi' }] },
      adminKey,
      {
        'x-project': 'short',
      },
    )
    await expect.poll(() => told('alert.fired', rule.id).length, { timeout: 20_000 }).toBe(1)
    await gateway.end('SIGKILL')
    await start()
    await expect.poll(() => told('alert.resolved', rule.id).length, { timeout: 40_000 }).toBe(1)
    expect(told('alert.fired', rule.id)).toHaveLength(1)
    const { history } = (await send('GET', `${alertsPath}/history?alert_id=${rule.id}`)).body
    expect(history).toHaveLength(1)
    expect(history[0]).toMatchObject({ resolved_at: expect.any(String), resolved_to: 'no_data' })
  }, 90_000)
})

/** The metric, and thresholds of which some are breached. */
const thresholds: Readonly<Record<string, readonly number[]>> = {
  cost_usd: [0.01, 0.2, 5],
  cost_per_min: [0.0001, 0.001, 1],
  error_rate: [0.05, 0.2, 0.9],
  latency_avg: [0.01, 60_000],
  latency_p50: [0.01, 60_000],
  latency_p95: [0.01, 60_000],
  latency_p99: [0.01, 60_000],
  ttft_p95: [0.01, 60_000],
  request_rate: [0.1, 0.4, 100],
  tokens_per_request: [1, 12, 500],
  cache_hit_rate: [0.01, 0.3],
  provider_errors: [0, 3, 50],
  guardrail_blocks: [0, 3, 50],
  budget_used_pct: [0.01, 50],
  overhead_p99: [0.001, 60_000],
}

const metricNames = Object.keys(thresholds)
const groupings = ['none', 'model', 'provider', 'user', 'project']
const conditions = ['>', '<', '>=', '<=']

/** A rule of each metric, grouping, condition and threshold in turn, over so long that nothing leaves its window meanwhile. */
function ruleNumber(n: number): object {
  const metric = metricNames[n % metricNames.length]!
  const own = thresholds[metric]!
  const filters = [{}, { project: ['p0', 'p1'] }, { model: 'gpt-*' }, { provider: 'openai' }]
  return {
    name: `rule ${n}`,
    metric,
    condition: conditions[(n * 3) % conditions.length],
    threshold: own[(n * 5 + Math.floor(n / 7)) % own.length],
    window: ['1h', '2h', '24h'][n % 3],
    group_by: groupings[(n * 2 + Math.floor(n / 15)) % groupings.length],
    filter: filters[(n + Math.floor(n / 4)) % filters.length],
    min_samples: n % 6 === 5 ? 3 : 1,
    cooldown_seconds: 0,
  }
}

/** The value of each group that has enough samples, from the traces alone. */
function groupsOf(rule: Shown, all: readonly Shown[]): Map<string | null, number> {
  const counted = all
    .filter(({ facts }) => facts.alerts === undefined)
    .flatMap((trace) => valuesOf(rule, trace))
  const groups = Map.groupBy(counted, ({ group }) => group)
  const values = new Map<string | null, number>()
  for (const [group, own] of groups) {
    if (own.length < rule.min_samples) continue
    values.set(
      group,
      combined(
        rule,
        own.map(({ value }) => value),
      ),
    )
  }
  return values
}

function valuesOf(
  { metric, group_by, filter }: Shown,
  trace: Shown,
): { group: string | null; value: number }[] {
  const places: { provider: string | null; model: string; value: number | null }[] =
    metric === 'provider_errors'
      ? trace.attempts.map(({ provider, model, status, error }: Shown) => ({
          provider,
          model,
          value: error !== null && (status === null || status < 400 || status >= 500) ? 1 : 0,
        }))
      : [{ provider: trace.provider, model: trace.model, value: amountOf(metric, trace) }]
  return places.flatMap(({ provider, model, value }) => {
    if (value === null) return []
    if (filter.project && !filter.project.includes(trace.project)) return []
    if (filter.model && !model.startsWith('gpt-')) return []
    if (filter.provider && provider !== 'openai') return []
    const groups: Record<string, string | null> = {
      none: null,
      model,
      provider: provider ?? '(none)',
      user: trace.user_id ?? '(none)',
      project: trace.project,
    }
    return [{ group: groups[group_by]!, value }]
  })
}

function amountOf(metric: string, trace: Shown): number | null {
  switch (metric) {
    case 'cost_usd':
    case 'cost_per_min':
      return trace.cost_usd ?? 0
    case 'error_rate':
      return ['error', 'timeout'].includes(trace.status) ? 1 : 0
    case 'ttft_p95':
      return trace.ttft_ms
    case 'request_rate':
      return 1
    case 'tokens_per_request':
      return trace.tokens_in + trace.tokens_out
    case 'cache_hit_rate':
      return trace.cached ? 1 : 0
    case 'guardrail_blocks':
      return trace.status === 'blocked' ? 1 : 0
    case 'budget_used_pct':
      return trace.facts.budget?.used_pct ?? null
    case 'overhead_p99':
      return trace.overhead_ms
    default:
      return trace.latency_ms
  }
}

function combined({ metric, window_seconds: seconds }: Shown, values: readonly number[]): number {
  // Of money in whole billionths, as fractions of it do not add up.
  const billionths = values.reduce((a, b) => a + Math.round(b * 1e9), 0)
  if (['cost_usd', 'provider_errors', 'guardrail_blocks'].includes(metric)) return billionths / 1e9
  if (['cost_per_min', 'request_rate'].includes(metric)) return (billionths * 60) / seconds / 1e9
  if (metric === 'budget_used_pct') return Math.max(...values)
  const share = ({ p50: 0.5, p95: 0.95, p99: 0.99 } as Record<string, number>)[metric.slice(-3)]
  if (share === undefined) return values.reduce((a, b) => a + b, 0) / values.length
  return values.toSorted((a, b) => a - b)[Math.max(1, Math.ceil(share * values.length)) - 1]!
}

const isBreach = ({ condition, threshold }: Shown, value: number): boolean =>
  ({ gt: value > threshold, gte: value >= threshold, lt: value < threshold, lte: value <= threshold })[
    condition as 'gt'
  ]

const worstOf = ({ condition }: Shown, values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : condition.startsWith('g') ? Math.max(...values) : Math.min(...values)
