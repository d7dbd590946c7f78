import { beforeEach, expect, test } from 'vitest'
import { startGateway } from '../../test/harness.ts'
import { shared } from '../../test/shared.ts'
import { startUpstream } from '../../test/upstream/index.ts'

const parts = shared(async () => {
  const upstream = await startUpstream()
  const gateway = await startGateway({ upstream })
  return {
    upstream,
    gateway,
    ada: await gateway.signUp('ada'),
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
})

beforeEach(() => parts.upstream.reset())

const api = (method: string, at: string, body?: unknown, key?: string) =>
  parts.gateway.api(method, `/api/optimize${at}`, body, key)

const configuration = async () => (await parts.gateway.api('GET', '/api/config')).body

const ask = (content: string, key = parts.ada.key) =>
  parts.gateway.api(
    'POST',
    '/v1/chat/completions',
    { model: 'gpt-4o', messages: [{ role: 'user', content }] },
    key,
  )

// biome-ignore lint/suspicious/noExplicitAny: of a body of any shape
const actionOf = (body: any, path: string) =>
  body.actions.find(({ change }: { change: { path: string } | null }) => change?.path === path)

test('below ten calls nothing is recommended', async () => {
  expect((await api('GET', '')).body).toEqual({
    status: 'needs_data',
    traces_available: 0,
    traces_needed: 10,
    total_spend_7d: 0,
    models_calibrated: 0,
    enabled: false,
    last_run: null,
  })
  const { status, body } = await api('POST', '', { apply: true })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    actions: [],
    applied: [],
    summary: { grade: null, traces_analyzed: 0 },
    stages: [
      { name: 'observe', status: 'done' },
      { name: 'score', status: 'skipped' },
      { name: 'analyze', status: 'skipped' },
      { name: 'recommend', status: 'skipped' },
    ],
  })
  expect(body.next_steps[0]).toContain('10 more calls')
})

test('only admins optimize, and two runs at once are one', async () => {
  expect((await api('GET', '', undefined, parts.ada.key)).status).toBe(403)
  expect((await api('POST', '', {}, parts.ada.key)).status).toBe(403)
  const both = await Promise.all([api('POST', ''), api('POST', '')])
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
  expect((await api('POST', '')).status).toBe(200)
  expect((await api('POST', '', { apply: 'yes' })).body.error.param).toBe('apply')
})

test('repeated calls lead to the cache, with what they cost; applied twice is once, and the way back restores the hash', async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  parts.upstream.reply({ content: 'Fine.', usage, times: 20 })
  for (let n = 0; n < 12; n += 1) expect((await ask('How are you?')).status).toBe(200)
  await expect.poll(async () => (await api('GET', '')).body.status).toBe('ready')
  const before = await configuration()
  expect(before.modules?.cachelayer).toBeUndefined()
  const { body } = await api('POST', '')
  expect(body.stages.map(({ status }: { status: string }) => status)).toEqual([
    'done',
    'done',
    'done',
    'done',
  ])
  const action = actionOf(body, 'modules.cachelayer')
  expect(action).toMatchObject({
    id: expect.stringMatching(/^act_/),
    priority: 'high',
    category: 'cost',
    confidence: 'low',
    effort: 'automatic',
    auto_apply: true,
    change: { path: 'modules.cachelayer', before: null, after: { enabled: true } },
  })
  // Eleven of twelve calls were repeats, of which each cost the same.
  const { total_spend_usd } = body.summary
  expect(total_spend_usd).toBeGreaterThan(0)
  expect(action.impact.usd_month).toBeCloseTo((total_spend_usd * 11 * 30) / (12 * 7), 6)
  expect(action.impact.pct).toBeCloseTo(91.7, 1)
  expect(body.summary.projected_monthly_savings_usd).toBe(action.impact.usd_month)
  expect(action.evidence_trace_ids).toHaveLength(5)
  const trace = `/api/observe/traces/${action.evidence_trace_ids[0]}`
  expect((await parts.gateway.api('GET', trace)).body.cost_usd).toBeCloseTo(total_spend_usd / 12, 9)
  expect(body.applied).toEqual([])
  expect((await configuration()).hash).toBe(before.hash)

  const first = await api('POST', '', { apply: true })
  expect(first.body.applied).toMatchObject([
    { action_id: action.id, rollback_id: expect.stringMatching(/^rbk_/) },
  ])
  const after = await configuration()
  expect(after.modules.cachelayer).toEqual({ enabled: true })
  expect(after.generation).toBe(first.body.applied[0].generation)
  parts.upstream.reset()
  await ask('Cached?')
  await ask('Cached?')
  expect(parts.upstream.requests).toHaveLength(1)
  const second = await api('POST', '', { apply: true })
  expect([second.body.applied, actionOf(second.body, 'modules.cachelayer')]).toEqual([[], undefined])
  expect((await configuration()).generation).toBe(after.generation)
  expect((await api('GET', '')).body.last_run).toMatchObject({ applied_count: 0 })

  const { rollback_id } = first.body.applied[0]
  const back = await api('POST', '/rollback', { rollback_id })
  expect([back.status, back.body.hash]).toEqual([200, before.hash])
  expect((await configuration()).hash).toBe(before.hash)
  expect((await api('POST', '/rollback', { rollback_id })).status).toBe(409)
  expect((await api('POST', '/rollback', { rollback_id: 'rbk_none' })).status).toBe(404)
})

test('what somebody changed since is neither changed nor taken back', async () => {
  const { body } = await api('POST', '', { apply: true })
  const { rollback_id } = body.applied.find(
    ({ action_id }: { action_id: string }) => action_id === idOf(body, 'modules.cachelayer'),
  )
  await parts.gateway.module('cachelayer', { config: { ttl_s: 60 } })
  const { hash } = await configuration()
  const refused = await api('POST', '/rollback', { rollback_id })
  expect([refused.status, refused.body.error.param]).toEqual([409, 'rollback_id'])
  expect((await configuration()).hash).toBe(hash)
  await parts.gateway.module('cachelayer', { enabled: false })
  const again = await api('POST', '')
  expect(actionOf(again.body, 'modules.cachelayer').change).toMatchObject({
    before: { enabled: false, config: { ttl_s: 60 } },
    after: { enabled: true, config: { ttl_s: 60 } },
  })
})

// biome-ignore lint/suspicious/noExplicitAny: of a body of any shape
const idOf = (body: any, path: string): string => actionOf(body, path).id
