import OpenAI from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { Scrape } from '../../test/prometheus.ts'
import { shared } from '../../test/shared.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

interface Running {
  readonly upstream: Upstream
  readonly gateway: TestGateway
  readonly client: OpenAI
  close(): Promise<void>
}

const running = shared<Running>(async () => {
  const upstream = await startUpstream()
  const gateway = await startGateway({
    upstream,
    config: {
      prices: { 'openai/gpt-4o': { input_usd_per_m: 1000, output_usd_per_m: 2000 } },
      modules: {
        retrypilot: { config: { base_ms: 1, max: 1, budget_pct: 100 } },
        cachelayer: { enabled: false },
      },
    },
  })
  return {
    upstream,
    gateway,
    client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 }),
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
})

beforeEach(() => running.upstream.reset())

const get = (key: string) =>
  fetch(`${running.gateway.url}/metrics`, { headers: { authorization: `Bearer ${key}` } })
const scrape = async () => new Scrape(await (await get(running.gateway.adminKey)).text())

const messages = [{ role: 'user' as const, content: 'Hello' }]
const ask = (model = 'gpt-4o') => running.client.chat.completions.create({ model, messages })
const failed = (model?: string) => expect(ask(model)).rejects.toBeInstanceOf(OpenAI.APIError)

/** What a metric grew by while something was done; waits until all of it is counted. */
async function grown(done: () => Promise<unknown>, calls: number) {
  const before = await scrape()
  await done()
  let after = before
  await expect
    .poll(async () => {
      after = await scrape()
      return after.value('switchyard_calls_total') - before.value('switchyard_calls_total')
    })
    .toBe(calls)
  return (name: string, labels: Record<string, string> = {}) =>
    after.value(name, labels) - before.value(name, labels)
}

describe('access', () => {
  test('strangers and users may not read the metrics, admins may', async () => {
    const { key } = await running.gateway.signUp('stranger')
    expect((await fetch(`${running.gateway.url}/metrics`)).status).toBe(401)
    expect((await get('sy_live_nobody')).status).toBe(401)
    expect((await get(key)).status).toBe(403)
    const answer = await get(running.gateway.adminKey)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  test('a user that the settings list may, and what was counted stays', async () => {
    const { key, userId } = await running.gateway.signUp('prometheus')
    await grown(() => ask(), 1)
    const before = (await scrape()).value('switchyard_calls_total')
    await running.gateway.kernel.registry.change('metrics', { config: { users: [userId] } })
    expect((await get(key)).status).toBe(200)
    expect((await scrape()).value('switchyard_calls_total')).toBe(before)
    await running.gateway.kernel.registry.change('metrics', { config: { users: null } })
    expect((await get(key)).status).toBe(403)
  })
})

test('calls, tokens, cost and times are those of the answers', async () => {
  const usage = { prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 }
  const details = { prompt_tokens_details: { cached_tokens: 10 } }
  running.upstream.reply({ content: 'Hi', usage: { ...usage, ...details } })
  running.upstream.reply({ content: 'Hi', usage })
  const by = await grown(() => Promise.all([ask(), ask()]), 2)
  const labels = { provider: 'openai', model: 'gpt-4o' }
  expect(by('switchyard_calls_total', { ...labels, source: 'client', status: 'ok' })).toBe(2)
  expect(by('switchyard_input_tokens_total', labels)).toBe(60)
  expect(by('switchyard_output_tokens_total', labels)).toBe(14)
  expect(by('switchyard_cached_input_tokens_total', labels)).toBe(10)
  expect(by('switchyard_cost_usd_total', labels)).toBeCloseTo(0.06 + 0.028, 9)
  expect(by('switchyard_call_duration_seconds', labels)).toBe(2)
  expect(by('switchyard_overhead_seconds')).toBe(2)
  expect(by('switchyard_time_to_first_token_seconds')).toBe(0)
  expect(by('switchyard_upstream_attempts_total', { ...labels, result: 'ok' })).toBe(2)
})

test('a streamed call has a time to its first token', async () => {
  const by = await grown(async () => {
    for await (const _ of await running.client.chat.completions.create({
      model: 'gpt-4o',
      messages,
      stream: true,
    }));
  }, 1)
  expect(by('switchyard_time_to_first_token_seconds', { model: 'gpt-4o' })).toBe(1)
})

test('attempts are counted by what came of them', async () => {
  running.upstream.reply({ status: 500 })
  running.upstream.reply({ content: 'Hi' })
  running.upstream.reply({ status: 400 })
  running.upstream.reply({ status: 429, times: 2 })
  running.upstream.reply({ drop: true, times: 2 })
  const by = await grown(async () => {
    await ask()
    await failed()
    await failed()
    await failed()
  }, 4)
  const attempts = (result: string) =>
    by('switchyard_upstream_attempts_total', { provider: 'openai', model: 'gpt-4o', result })
  expect(['ok', 'server_error', 'client_error', 'rate_limited', 'network'].map(attempts)).toEqual([
    1, 1, 1, 2, 2,
  ])
  expect(by('switchyard_calls_total', { status: 'ok' })).toBe(1)
  expect(by('switchyard_calls_total', { status: 'error' })).toBe(3)
})

test('refusals, findings and answers from the cache are counted', async () => {
  const { gateway, client } = running
  await gateway.module('cachelayer', { enabled: true })
  await gateway.module('secretscan', { enabled: true })
  const secret = `ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)}`
  const by = await grown(async () => {
    await ask()
    await ask()
    await failed('nobody/has-this')
    await client.chat.completions
      .create({ model: 'gpt-4o', messages: [{ role: 'user', content: `My token is ${secret}` }] })
      .catch(() => undefined)
  }, 4)
  await gateway.module('cachelayer', { enabled: false })
  expect(by('switchyard_cache_hits_total', { kind: 'exact' })).toBe(1)
  expect(by('switchyard_calls_total', { status: 'cache_hit' })).toBe(1)
  expect(by('switchyard_cache_saved_usd_total')).toBeGreaterThan(0)
  expect(by('switchyard_guard_findings_total', { module: 'secretscan', type: 'secret' })).toBeGreaterThan(0)
  expect(by('switchyard_refused_calls_total', { module: 'gateway' })).toBeGreaterThan(0)
})

test('models that never answered share a label, whatever clients call them', async () => {
  const names = Array.from({ length: 120 }, (_, n) => `openai/gpt-"${n}\\\n`)
  running.upstream.reply({ status: 404, times: Number.POSITIVE_INFINITY })
  const before = (await scrape()).samples('switchyard_calls_total').length
  const by = await grown(() => Promise.all(names.map((name) => failed(name))), names.length)
  expect(by('switchyard_calls_total', { provider: 'openai', model: 'other', status: 'error' })).toBe(120)
  expect((await scrape()).samples('switchyard_calls_total').length - before).toBeLessThanOrEqual(1)
})

test('names that need escapes are read as they are', async () => {
  const model = 'a "quoted"\\model'
  await grown(() => ask(`openai/${model}`), 1)
  expect((await scrape()).value('switchyard_calls_total', { model })).toBe(1)
})

test('a running call is in flight, and its end takes it out', async () => {
  const gate = Promise.withResolvers<void>()
  running.upstream.reply({ gate: { opened: gate.promise } })
  const seen = running.upstream.requests.length
  const by = await grown(async () => {
    const asked = ask()
    await running.upstream.received(seen + 1)
    expect((await scrape()).value('switchyard_calls_in_flight')).toBe(1)
    gate.resolve()
    await asked
  }, 1)
  expect(by('switchyard_calls_in_flight')).toBe(0)
})

test('the state of the process is there', async () => {
  const seen = await scrape()
  expect(seen.value('switchyard_store_healthy')).toBe(1)
  expect(seen.value('switchyard_threads')).toBe(1)
  expect(seen.value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(Math.abs(seen.value('process_start_time_seconds') - Date.now() / 1000)).toBeLessThan(600)
  expect(seen.samples('switchyard_queue_depth').map(({ labels }) => labels.queue)).toContain('traces')
  expect(seen.samples('switchyard_build_info')[0]!.labels).toMatchObject({ version: expect.any(String) })
})
