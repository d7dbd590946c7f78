import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { anthropic } from '../../test/upstream/anthropic/index.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** How much later than a limit its effect may be seen, on a busy machine; where a limit is missing nothing ends. */
const slackMs = 10_000
const model = 'gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'Hello' }]
const unlimited = {
  connect_ms: 'none',
  first_byte_ms: 'none',
  idle_ms: 'none',
  total_ms: 'none',
  max_spend_usd: null,
}

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  for (const name of ['retrypilot', 'fallbackrouter']) {
    await gateway.kernel.registry.change(name, { enabled: false }).catch(() => {})
  }
})

beforeEach(() => upstream.reset())
afterEach(() => limits({}))

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const limits = (config: Record<string, number | 'none'>) =>
  gateway.module('idlekill', { enabled: true, config: { ...unlimited, ...config } })

const ask = (stream: boolean, signal?: AbortSignal) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, stream }),
    ...(signal && { signal }),
  })

async function closedAfterMs(): Promise<number> {
  const request = upstream.last()
  await request.closed
  expect(request.aborted).toBe(true)
  return request.closedAfterMs!
}

async function errorOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { error: unknown }).error
}

/** The trace of a call: what no provider has counted is counted before a call settles, which takes a moment. */
function traceOf({ headers }: Response, of = gateway) {
  return vi.waitFor(
    async () => {
      const { status, body } = await of.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
      expect(status).toBe(200)
      return body
    },
    { timeout: 10_000 },
  )
}

describe.each([false, true])('a call (streamed: %j)', (stream) => {
  test('whose provider does not answer ends at the first byte’s limit, and so does its connection', async () => {
    await limits({ first_byte_ms: 500 })
    upstream.reply({ hang: true })
    const started = performance.now()
    const response = await ask(stream)
    expect(performance.now() - started).toBeGreaterThan(450)
    expect(response.status).toBe(504)
    expect(await errorOf(response)).toMatchObject({ code: 'provider_error', type: 'timeout' })
    expect(await closedAfterMs()).toBeLessThan(500 + slackMs)
  })

  test('that takes too long altogether ends, and so does its connection', async () => {
    await limits({ total_ms: 1000 })
    upstream.reply({ hang: true })
    const response = await ask(stream)
    expect(response.status).toBe(504)
    expect(await errorOf(response)).toMatchObject({
      code: 'provider_error',
      type: 'timeout',
      module: 'idlekill',
    })
    expect(await closedAfterMs()).toBeLessThan(1000 + slackMs)
    expect(await traceOf(response)).toMatchObject({ status: 'timeout', status_code: 504 })
  })

  test('whose client leaves before the answer has its connection closed at once', async () => {
    upstream.reply({ hang: true })
    const left = new AbortController()
    const call = ask(stream, left.signal)
    const request = await upstream.received(1)
    const leftAt = performance.now()
    left.abort()
    await expect(call).rejects.toThrow()
    await request.closed
    expect(performance.now() - leftAt).toBeLessThan(slackMs)
  })

  test('within every limit is left alone', async () => {
    await limits({ connect_ms: 30_000, first_byte_ms: 30_000, idle_ms: 30_000, total_ms: 30_000 })
    upstream.reply({ content: ['slow ', 'but ', 'steady'], gapMs: 20 })
    const response = await ask(stream)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('steady')
  })
})

test('a limit that is switched off by `none` ends nothing', async () => {
  const slow = async (total_ms: number | 'none') => {
    await limits({ total_ms })
    upstream.reply({ delayMs: 400 })
    return (await ask(false)).status
  }
  expect([await slow(100), await slow('none')]).toEqual([504, 200])
})

describe('a stream that has begun', () => {
  test('ends with an error in it when its provider falls silent', async () => {
    await limits({ idle_ms: 1000 })
    upstream.reply({ content: ['one ', 'two '], hangAfter: 3 })
    const started = performance.now()
    const { data: stream, response } = await client.chat.completions
      .create({ model, messages, stream: true })
      .withResponse()
    let text = ''
    await expect(
      (async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      })(),
    ).rejects.toThrow(/within 1000 ms/)
    expect(text).toBe('one two ')
    expect(performance.now() - started).toBeLessThan(1000 + 2 * slackMs)
    await closedAfterMs()
    expect(await traceOf(response)).toMatchObject({ status: 'timeout', status_code: 200 })
  })

  test('ends with an error in it at the limit of its time, however lively it is', async () => {
    await limits({ total_ms: 1500, idle_ms: 1400 })
    upstream.reply({ content: Array.from({ length: 1000 }, (_, n) => `${n} `), gapMs: 20 })
    const response = await ask(true)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).toContain('"type":"timeout"')
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('finish_reason":"stop"')
    expect(await closedAfterMs()).toBeLessThan(1500 + slackMs)
  })

  test('has its connection closed when the client leaves', async () => {
    upstream.reply({ content: ['one ', 'two '], hangAfter: 3 })
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === 'two ') break
    const leftAt = performance.now()
    stream.controller.abort()
    await upstream.last().closed
    expect(performance.now() - leftAt).toBeLessThan(slackMs)
  })

  test('ends when it costs more than a call may', async () => {
    await limits({ max_spend_usd: 0.0001 })
    upstream.reply({ content: Array.from({ length: 2000 }, (_, n) => `costly${n} `), gapMs: 1 })
    const response = await ask(true)
    const text = await response.text()
    expect(text).toContain('costly10 ')
    expect(text).not.toContain('costly1999 ')
    expect(text).toContain('"code":"rate_limited"')
    expect(text).toContain('"type":"spend_limit"')
    expect(text).toContain('$0.0001')
    expect(text).not.toContain('[DONE]')
    await closedAfterMs()
    const trace = await traceOf(response)
    expect(trace).toMatchObject({ status: 'rate_limited', usage: { source: 'estimated' } })
    expect(trace.cost_usd).toBeLessThan(0.001)
  })
})

describe('an answer that comes at once', () => {
  const claude = 'claude-sonnet-4-5'
  let anthropicUpstream: Upstream
  let other: TestGateway

  beforeAll(async () => {
    anthropicUpstream = await startUpstream({ wires: [anthropic] })
    const providerOf = (played: Upstream) => ({ base_url: played.baseUrl(), api_key: 'sk-test' })
    const providers = { openai: providerOf(upstream), anthropic: providerOf(anthropicUpstream) }
    other = await startGateway({ config: { providers } })
  })

  afterAll(async () => {
    await other.close()
    await anthropicUpstream.close()
  })

  test.each([
    ['/v1/chat/completions', model, 0.0001],
    ['/v1/chat/completions', claude, 0.002],
    ['/v1/messages', claude, 0.002],
  ])('ends within what a call may cost: %s, %s', async (path, asked, most) => {
    await other.module('idlekill', { enabled: true, config: { ...unlimited, max_spend_usd: most } })
    const words = Array.from({ length: 2000 }, (_, n) => `costly${n} `)
    for (const played of [upstream, anthropicUpstream]) played.reply({ content: words })
    const response = await fetch(`${other.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${other.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: asked, messages, stream: true, max_tokens: 8000 }),
    })
    const events = await response.text()
    expect(events).toContain('exceeds the limit')
    const said = [...events.matchAll(/"(?:content|text)":"([^"]*)"/g)].map(([, text]) => text).join('')
    expect(words.join('').startsWith(said)).toBe(true)
    // Both limits are worth some 150 tokens.
    expect(said.length).toBeGreaterThan(200)
    expect(said.length).toBeLessThan(600)
    expect(await traceOf(response, other)).toMatchObject({ status: 'rate_limited' })
  })
})

test('a provider that cannot be reached is given up at the limit for connecting', async () => {
  const sockets: Socket[] = []
  const deaf = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(deaf, 'listening')
  const { port } = deaf.address() as AddressInfo
  const base_url = `https://127.0.0.1:${port}/v1`
  const other = await startGateway({ config: { providers: { openai: { base_url, api_key: 'k' } } } })
  await other.kernel.registry.change('retrypilot', { enabled: false }).catch(() => {})
  await other.module('idlekill', { config: { connect_ms: 150 } })
  const started = performance.now()
  const response = await fetch(`${other.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${other.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  })
  expect(response.status).toBe(504)
  expect(await errorOf(response)).toMatchObject({ type: 'timeout' })
  expect(performance.now() - started).toBeLessThan(150 + 2 * slackMs)
  await other.close()
  for (const socket of sockets) socket.destroy()
  deaf.close()
})
