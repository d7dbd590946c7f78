import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { findingActions, findingTypes, severities, type TraceFinding, TraceReader } from '#kernel'
import { noUsage } from '../../kit/canonical/usage.ts'
import { createIds } from '../../kit/id.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { runs } from '../../test/suite/runs.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { TraceRow } from '../observe/row.ts'
import type { Traces } from '../observe/traces.ts'
import { eventsOf, type SafetyEvent } from './event.ts'

const mail = 'ada.lovelace@example.com'
const token = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
const dayMs = 86_400_000

let upstream: Upstream
let gateway: TestGateway
let traces: Traces
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  await gateway.module('maskmode', { enabled: true, config: { mode: 'redact', entities: ['email'] } })
  await gateway.module('secretscan', { enabled: true, config: { request: 'warn' } })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
  traces = gateway.kernel.registry.get('observe').instance!.services.get(TraceReader) as Traces
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** Makes a call and returns the id of its trace. */
async function ask(content: string, key: string, project = 'docs'): Promise<string> {
  upstream.reply({ content: 'Fine.' })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-project': project },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })
  await response.text()
  return response.headers.get('x-trace-id')!
}

const logOf = async (query = '', key?: string) =>
  (await gateway.api('GET', `/api/observe/safety?${query}`, undefined, key)).body
const summaryOf = async (query = '', key?: string) =>
  (await gateway.api('GET', `/api/observe/safety/summary?${query}`, undefined, key)).body

test('what guards find in a call is in the log at once, with who and where, and never the text', async () => {
  const before = await summaryOf('', ada.key)
  expect(before).toMatchObject({ safety_score: 100, calls: 0, total: 0 })
  const id = await ask(`Write to ${mail} and again to ${mail}, with ${token}`, ada.key)
  await ask('Hello', ada.key)
  const { events, total } = await logOf('', ada.key)
  expect(total).toBe(2)
  expect(events).toEqual([
    {
      id: `${id.replace('tr_', 'se_')}.1`,
      event_type: 'secret',
      severity: 'low',
      category: 'github_token',
      detail: 'github_token: once in content of user',
      count: 1,
      direction: 'request',
      action_taken: 'warned',
      module: 'secretscan',
      rule_id: null,
      user_id: ada.userId,
      key_id: expect.any(String),
      project: 'docs',
      model: 'gpt-4o-mini',
      source: 'proxy',
      trace_id: id,
      source_ip: expect.stringMatching(/127\.0\.0\.1|::1/),
      created_at: expect.any(String),
    },
    expect.objectContaining({
      event_type: 'pii',
      action_taken: 'redacted',
      detail: 'email: 2 times in content of user',
      count: 2,
    }),
  ])
  expect(JSON.stringify(events)).not.toMatch(/lovelace|ghp_/)
  expect(await summaryOf('', ada.key)).toMatchObject({
    // One warning of low severity in two calls.
    safety_score: 95,
    calls: 2,
    total: 2,
    redacted: 1,
    warned: 1,
    today: { total: 2, blocked: 0, redacted: 1, warned: 1, logged: 0, shadow: 0 },
    by_severity: { low: 1, medium: 1, high: 0, critical: 0 },
    top_rules: [
      expect.objectContaining({ count: 1, rule_id: null }),
      expect.objectContaining({ count: 1, rule_id: null }),
    ],
  })
})

test('a user sees no events of others, neither in the log nor by id nor in figures; an admin sees all', async () => {
  await ask(`Is ${token} mine?`, bob.key, 'web')
  const [own] = (await logOf('', bob.key)).events as SafetyEvent[]
  expect(own).toMatchObject({ user_id: bob.userId })
  expect((await logOf('', ada.key)).events).not.toContainEqual(own)
  expect((await logOf(`user_id=${bob.userId}`, ada.key)).error.status).toBe(403)
  expect((await logOf(`user_id=${bob.userId}`)).events).toEqual([own])
  const byId = (key?: string) => gateway.api('GET', `/api/observe/safety/${own!.id}`, undefined, key)
  expect((await byId(ada.key)).status).toBe(404)
  expect((await byId(bob.key)).body).toEqual(own)
  expect((await byId()).body).toEqual(own)
  expect((await summaryOf('', bob.key)).total).toBe(1)
  expect((await summaryOf()).total).toBeGreaterThan(1)
})

test('what a guard in shadow would have done did not happen', async () => {
  await gateway.module('secretscan', { config: { request: 'block' }, mode: 'shadow' })
  await ask(`Is ${token} mine?`, bob.key)
  await gateway.module('secretscan', { config: { request: 'warn' }, mode: 'enforce' })
  expect((await logOf('limit=1', bob.key)).events[0]).toMatchObject({
    action_taken: 'shadow',
    detail: 'github_token: once in content of user; would be blocked',
  })
})

test('unknown filters and values are refused by their names', async () => {
  for (const [query, param] of [
    ['colour=red', 'colour'],
    ['severity=grave', 'severity'],
    ['cursor=x', 'cursor'],
    ['from=yesterday', 'from'],
  ]) {
    const { status, body } = await gateway.api('GET', `/api/observe/safety?${query}`)
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(param!)])
  }
  expect((await summaryOf('days=0')).error.status).toBe(400)
})

const newId = createIds()
const finding = fc.record({
  module: fc.constantFrom('maskmode', 'secretscan', 'guardrail'),
  type: fc.constantFrom(...findingTypes),
  severity: fc.constantFrom(...severities),
  action: fc.constantFrom(...findingActions),
  direction: fc.constantFrom('request' as const, 'reply' as const),
  label: fc.constantFrom('email', 'phone', '__proto__'),
  ruleId: fc.option(fc.constantFrom('gr_1', 'gr_2'), { nil: undefined }),
  count: fc.integer({ min: 1, max: 5 }),
  mode: fc.option(fc.constant('shadow' as const), { nil: undefined }),
})
const call = fc.record({
  daysAgo: fc.integer({ min: 0, max: 9 }),
  user: fc.constantFrom('ada', 'bob', undefined),
  source: fc.constantFrom('proxy', 'proxy', 'replay', 'plugin:judge'),
  project: fc.constantFrom('docs', 'web'),
  findings: fc.array(finding, { maxLength: 4 }),
})
type Made = typeof call extends fc.Arbitrary<infer T> ? T : never

function rowOf({ daysAgo, user, source, project, findings }: Made): TraceRow {
  const owner = user && { ada, bob }[user].userId
  const found = findings.map(({ ruleId, mode, ...rest }) => ({
    ...rest,
    spans: [],
    ...(ruleId !== undefined && { ruleId }),
    ...(mode && { mode }),
  })) satisfies TraceFinding[]
  return {
    id: newId('tr_'),
    // At the same time of a day, so that no row changes its day while the test runs.
    at: Math.floor(Date.now() / dayMs - daysAgo) * dayMs + 1000,
    user_id: owner,
    source,
    project,
    ...(found.length > 0 && { findings: found, source_ip: '192.0.2.1' }),
    ...{ request_id: undefined, parent_id: undefined, session_id: undefined, run_id: undefined },
    ...{ operation: 'chat', wire: 'chat', key_id: 'key_1', tags: {}, stream: false, status: 'ok' as const },
    ...{
      model_requested: 'm',
      model: 'm',
      provider: 'p',
      provider_model: 'm',
      status_code: 200,
      error: undefined,
    },
    ...{ latency_us: 1, ttft_us: undefined, upstream_us: 1, usage: noUsage, cost: undefined },
    ...{ saved_nano: undefined, saved_by_autopilot_nano: undefined, finish_reason: 'stop', cache: undefined },
    ...{ attempts: [], timings: [], notes: [], decisions: [], params_changed: [], facts: {} },
    ...{ generation: undefined, bodies: 'off' as const },
  }
}

const weights = { low: 0.1, medium: 0.3, high: 0.6, critical: 1 }

/** The summary of all traces there are, event by event. */
async function bruteForce(days: number, source: string, userId?: string) {
  const midnight = Math.floor(Date.now() / dayMs) * dayMs
  const from = midnight - (days - 1) * dayMs
  const all: SafetyEvent[] = []
  let calls = 0
  for await (const trace of traces.scan({ from, user_id: userId })) {
    if (trace.source.split(':')[0] !== source) continue
    calls += 1
    all.push(...eventsOf(trace))
  }
  const open = all.filter(({ action_taken }) => !['blocked', 'redacted'].includes(action_taken))
  const weight = open.reduce((sum, { severity }) => sum + weights[severity], 0)
  const counts = (events: SafetyEvent[]) => ({
    total: events.length,
    ...Object.fromEntries(
      ['blocked', 'redacted', 'warned', 'logged', 'shadow'].map((action) => [
        action,
        events.filter(({ action_taken }) => action_taken === action).length,
      ]),
    ),
  })
  const onDay = (n: number) => {
    const date = new Date(from + n * dayMs).toISOString().slice(0, 10)
    const own = all.filter(({ created_at }) => created_at.startsWith(date))
    return { bucket: date, count: own.length, ...counts(own) }
  }
  return {
    calls,
    days,
    score: weight === 0 ? 100 : Math.max(0, 100 * (1 - weight / Math.max(1, calls))),
    ...counts(all),
    by_severity: Object.fromEntries(
      severities.map((name) => [name, all.filter((e) => e.severity === name).length]),
    ),
    by_type: Object.fromEntries(
      Array.from(
        Map.groupBy(all, (e) => e.event_type),
        ([type, own]) => [type, own.length],
      ),
    ),
    trend: Array.from({ length: days }, (_, n) => onDay(n)),
    rules: Array.from(
      Map.groupBy(all, (e) => JSON.stringify([e.module, e.rule_id, e.category])),
      ([rule, { length }]) => `${length} ${rule}`,
    ),
  }
}

test('the summary and the log are what the traces say, for all and for each user, source and time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 12 }),
      fc.integer({ min: 1, max: 12 }),
      fc.constantFrom('proxy', 'replay', 'plugin'),
      async (made, days, source) => {
        for (const one of made) void traces.append(rowOf(one))
        for (const viewer of [undefined, ada]) {
          const { safety_score, today, top_rules, ...got } = await summaryOf(
            `days=${days}&source=${source}`,
            viewer?.key,
          )
          const { score, rules, ...expected } = await bruteForce(days, source, viewer?.userId)
          expect({
            ...got,
            by_type: Object.fromEntries(
              got.by_type.map((t: { type: string; count: number }) => [t.type, t.count]),
            ),
          }).toEqual(expected)
          expect(safety_score).toBeCloseTo(score, 1)
          const { bucket: _, count: __, ...last } = expected.trend.at(-1)!
          expect(today).toEqual(last)
          expect(rules).toEqual(
            expect.arrayContaining(
              top_rules.map(
                (rule: { module: string; rule_id: string; category: string; count: number }) =>
                  `${rule.count} ${JSON.stringify([rule.module, rule.rule_id, rule.category])}`,
              ),
            ),
          )
        }
      },
    ),
    runs(20),
  )
  const listed: SafetyEvent[] = []
  for (let cursor = ''; ; ) {
    const page = await logOf(`limit=200${cursor}`)
    listed.push(...page.events)
    if (!page.next_cursor) break
    cursor = `&cursor=${page.next_cursor}`
  }
  const expected: SafetyEvent[] = []
  for await (const trace of traces.scan({})) expected.push(...eventsOf(trace))
  const byId = (a: SafetyEvent, b: SafetyEvent) => (a.id < b.id ? -1 : 1)
  expect(listed.toSorted(byId)).toEqual(expected.toSorted(byId))
  const wanted = expected.filter(
    (e) =>
      e.event_type === 'pii' && e.action_taken === 'shadow' && e.project === 'web' && e.severity === 'high',
  )
  expect((await logOf('type=pii&action=shadow&project=web&severity=high&limit=1')).total).toBe(wanted.length)
}, 60_000)

test('events go with their traces: by age, and with the data of their user', async () => {
  const cut = Date.now() - 4.5 * dayMs
  expect((await logOf(`to=${new Date(cut).toISOString()}`)).total).toBeGreaterThan(0)
  const age = { days: 4.5, projects: {} }
  await traces.prune({ traces: age, bodies: age })
  expect((await logOf(`to=${new Date(cut).toISOString()}`)).total).toBe(0)
  const left = (await logOf(`user_id=${bob.userId}`)).total
  expect(left).toBeGreaterThan(0)
  const { body } = await gateway.api('GET', `/api/auth/users/${bob.userId}/data`)
  expect(JSON.stringify(body)).toContain(`"safety":${left}`)
  expect((await gateway.api('DELETE', `/api/auth/users/${bob.userId}/data`)).status).toBe(200)
  expect((await logOf(`user_id=${bob.userId}`)).total).toBe(0)
  expect((await logOf(`user_id=${ada.userId}`)).total).toBeGreaterThan(0)
})
