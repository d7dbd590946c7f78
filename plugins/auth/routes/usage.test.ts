import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let dataDir: string

const start = () => startGateway({ upstream, dataDir, config: { providers: providers() } })
const providers = () => ({ openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } })

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-usage-'))
  upstream = await startUpstream()
  gateway = await start()
})

afterEach(async () => {
  await gateway.close()
  await upstream.close()
  await rm(dataDir, { recursive: true, force: true })
})

const client = (apiKey: string) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 })
const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello' }] }
const usage = async (key: string, query = '') =>
  (await gateway.api('GET', `/api/auth/me/usage${query}`, undefined, key)).body

test('usage sums what the provider reported, and its price, by user and month', async () => {
  const { userId, key } = await gateway.signUp('used')
  const other = await gateway.signUp('unused')
  const period = new Date().toISOString().slice(0, 7)
  expect(await usage(key)).toEqual({
    user_id: userId,
    period,
    requests: 0,
    tokens_in: 0,
    tokens_out: 0,
    cost_usd: 0,
  })

  const whole = await client(key).chat.completions.create(hello)
  let streamed: OpenAI.CompletionUsage | undefined
  const stream = await client(key).chat.completions.create({
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const chunk of stream) if (chunk.usage) streamed = chunk.usage

  const tokensIn = whole.usage!.prompt_tokens + streamed!.prompt_tokens
  const tokensOut = whole.usage!.completion_tokens + streamed!.completion_tokens
  await expect
    .poll(() => usage(key))
    .toMatchObject({ requests: 2, tokens_in: tokensIn, tokens_out: tokensOut })
  const { cost_usd: cost } = await usage(key)
  expect(cost).toBeCloseTo((tokensIn * 0.15 + tokensOut * 0.6) / 1e6, 12)
  expect((await gateway.api('GET', `/api/auth/users/${userId}/usage`)).body).toEqual(await usage(key))
  expect(await usage(other.key)).toMatchObject({ requests: 0, cost_usd: 0 })
})

test('usage, users and keys survive a restart', async () => {
  const { userId, key } = await gateway.signUp('lasting')
  await client(key).chat.completions.create(hello)
  await expect.poll(async () => (await usage(key)).requests).toBe(1)
  const before = await usage(key)
  await gateway.close()
  gateway = await start()
  expect(await usage(key)).toEqual(before)
  expect((await gateway.api('GET', `/api/auth/users/${userId}`)).body.email).toBe('lasting@example.com')
  await client(key).chat.completions.create(hello)
  await expect.poll(async () => (await usage(key)).requests).toBe(2)
})

test('calls that are refused before they reach a provider are not counted', async () => {
  const { key } = await gateway.signUp('refused')
  const unknown = { ...hello, model: 'no-such-model-anywhere' }
  await expect(client(key).chat.completions.create(unknown)).rejects.toMatchObject({ status: 404 })
  await client(key).chat.completions.create(hello)
  await expect.poll(async () => (await usage(key)).requests).toBe(1)
})

test('another month is read by its name, and what is no month is refused', async () => {
  const { key } = await gateway.signUp('months')
  expect(await usage(key, '?period=2020-02')).toMatchObject({ period: '2020-02', requests: 0 })
  for (const query of ['?period=2020-13', '?period=now', '?month=2020-02']) {
    const { status, body } = await gateway.api('GET', `/api/auth/me/usage${query}`, undefined, key)
    expect([status, body.error.code]).toEqual([400, 'bad_request'])
  }
})
