import OpenAI, { type RateLimitError } from 'openai'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI

beforeEach(async () => {
  upstream = await startUpstream()
  const modules = {
    retrypilot: { enabled: true, config: { base_ms: 5 } },
    fallbackrouter: { enabled: false },
    keypool: { enabled: false },
  }
  gateway = await startGateway({ upstream, config: { modules } })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
})

afterEach(async () => {
  await gateway.close()
  await upstream.close()
})

const model = 'gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'Hello' }]
const ask = (options: OpenAI.RequestOptions = {}) =>
  client.chat.completions.create({ model, messages }, options)

async function streamed(): Promise<string> {
  let text = ''
  for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true })) {
    text += choices[0]?.delta.content ?? ''
  }
  return text
}

test.each([
  ['an error of the provider', { status: 500 }],
  ['a limit', { status: 429 }],
  ['a connection that breaks', { drop: true }],
  ['an answer that makes no sense', { garbage: 'not JSON' }],
  ['an answer without a choice', { garbage: '{"choices":[]}' }],
  ['an answer that is cut off', { headers: { 'content-length': '60' } }],
])('%s is got over, whole and streamed', async (_, script) => {
  upstream.reply({ ...script, times: 2 })
  const { choices } = await ask()
  expect(choices[0]?.message.content).toContain('Hello')
  upstream.reply(script)
  expect(await streamed()).toContain('Hello')
  expect(upstream.requests).toHaveLength(5)
})

test('a stream that breaks before its first content is begun anew, and the client notices nothing', async () => {
  upstream.reply({ content: ['lost'], cutAfter: 1 })
  upstream.reply({ content: ['kept ', 'whole'] })
  expect(await streamed()).toBe('kept whole')
})

test('a stream that breaks after its first content is not begun anew', async () => {
  upstream.reply({ content: ['one ', 'two ', 'three'], cutAfter: 3, gapMs: 5 })
  await expect(streamed()).rejects.toThrow()
  expect(upstream.requests).toHaveLength(1)
})

test.each([400, 401, 404, 422])('a %s is not repeated', async (status) => {
  upstream.reply({ status })
  await expect(ask()).rejects.toBeInstanceOf(OpenAI.APIError)
  expect(upstream.requests).toHaveLength(1)
})

test('there is an end to it, and the last error is the answer', async () => {
  upstream.reply({ status: 500, times: 2 })
  upstream.reply({ status: 503, error: { message: 'still busy' } })
  const error = await ask().catch((reason: unknown) => reason)
  expect(error).toMatchObject({ status: 502, message: expect.stringContaining('still busy') })
  expect(upstream.requests).toHaveLength(3)
})

test('a provider that says when to come back is asked then', async () => {
  upstream.reply({ retryAfter: 1 })
  await ask()
  const [first, second] = upstream.requests
  expect(second!.receivedAt - first!.receivedAt).toBeGreaterThanOrEqual(990)
})

test('one that says it too far off is not waited for', async () => {
  upstream.reply({ retryAfter: 30 })
  const error = await ask().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(OpenAI.RateLimitError)
  expect((error as RateLimitError).headers?.get('retry-after')).toBe('30')
  expect(upstream.requests).toHaveLength(1)
})

test('a client that leaves while it waits is waited for no longer, and not tried for again', async () => {
  await gateway.module('retrypilot', { config: { max_wait_ms: 60_000 } })
  upstream.reply({ retryAfter: 60 })
  const left = new AbortController()
  const call = ask({ signal: left.signal })
  await upstream.received(1)
  await upstream.last().closed
  left.abort()
  await expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
  await expect.poll(() => gateway.kernel.registry.generation.leases, { timeout: 10_000 }).toBe(1)
  expect(upstream.requests).toHaveLength(1)
})

test('in a full outage the provider gets at most a fifth more than it is asked for', async () => {
  upstream.reply({ status: 503, times: Number.POSITIVE_INFINITY })
  const offered = 400
  let left = offered
  const caller = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1
      await ask().catch(() => {})
    }
  }
  await Promise.all(Array.from({ length: 16 }, caller))
  expect(upstream.requests.length).toBeGreaterThan(offered)
  expect(upstream.requests.length).toBeLessThanOrEqual(offered * 1.2)
})

test('the trace tells why there was another attempt', async () => {
  upstream.reply({ status: 503 })
  const { response } = await ask().withResponse()
  const { body } = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
  expect(body.attempts).toMatchObject([
    { n: 1, status: 503, reason_next: expect.stringMatching(/^retry after \d+ ms$/) },
    { n: 2, status: 200, reason_next: null },
  ])
})

test('it runs inside the fallback router, so that a target is retried before it is left', () => {
  const places = gateway.kernel.registry.places.map(({ plugin }) => plugin.id)
  expect(places.indexOf('retrypilot')).toBeGreaterThan(places.indexOf('fallbackrouter'))
})
