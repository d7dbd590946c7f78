import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let openai: OpenAI
let anthropic: Anthropic

beforeAll(async () => {
  upstream = await startUpstream()
  const modules = { retrypilot: { enabled: false }, fallbackrouter: { enabled: false } }
  gateway = await startGateway({ upstream, config: { modules } })
  openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.adminKey, maxRetries: 0 })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const inject = (...rules: readonly Record<string, unknown>[]) =>
  gateway.module('chaosllm', {
    enabled: true,
    config: { rules: rules.map((rule) => ({ percent: 100, ...rule })) },
  })

const messages = [{ role: 'user' as const, content: 'Hello' }]
const question = { model: 'gpt-4o-mini', messages, max_tokens: 100 }
const words = Array.from({ length: 30 }, (_, n) => `word${n} `)

/** The text that a client got, and the error that it ended with. */
interface Got {
  text: string
  error?: unknown
}

async function got(read: (text: (more: string) => void) => Promise<void>): Promise<Got> {
  const result: Got = { text: '' }
  try {
    await read((more) => {
      result.text += more
    })
  } catch (error) {
    result.error = error
  }
  return result
}

const clients = {
  openai: (stream: boolean) =>
    got(async (add) => {
      if (!stream) {
        const { choices } = await openai.chat.completions.create(question)
        add(choices[0]!.message.content!)
        return
      }
      for await (const { choices } of await openai.chat.completions.create({ ...question, stream: true }))
        add(choices[0]?.delta.content ?? '')
    }),
  anthropic: (stream: boolean) =>
    got(async (add) => {
      if (!stream) {
        const { content } = await anthropic.messages.create(question)
        add(content[0]!.type === 'text' ? content[0]!.text : '')
        return
      }
      for await (const event of anthropic.messages.stream(question))
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') add(event.delta.text)
    }),
} as const

/** The class of the error in each client. */
const classes = {
  openai: { 429: OpenAI.RateLimitError, 500: OpenAI.InternalServerError },
  anthropic: { 429: Anthropic.RateLimitError, 500: Anthropic.InternalServerError },
} as const

describe.each(['openai', 'anthropic'] as const)('the official client of %s', (name) => {
  describe.each([false, true])('stream: %s', (stream) => {
    const ask = () => clients[name](stream)

    test('sees a limit with the time after which to come back', async () => {
      await inject({ fault: 'rate_limit', retry_after_s: 9 })
      const { error } = await ask()
      expect(error).toBeInstanceOf(classes[name][429])
      expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('9')
      expect(upstream.requests).toHaveLength(0)
    })

    test.each([
      [{ fault: 'server_error' }, /injected/],
      [{ fault: 'server_error', status: 529 }, /injected/],
      [{ fault: 'reset' }, /could not be reached or broke off/],
      [{ fault: 'malformed' }, /not JSON|could not be read|no.*JSON/i],
      [{ fault: 'truncated', after_bytes: 5 }, /broke off/],
    ])('sees %j as an error of the provider', async (rule, message) => {
      upstream.reply({ content: words })
      await inject(rule)
      const { error } = await ask()
      expect(error).toBeInstanceOf(classes[name][500])
      expect(error).toMatchObject({ message: expect.stringMatching(message) })
    })

    test('sees an answer that is late, and no error', async () => {
      await inject({ fault: 'latency', ms: 60 })
      const began = performance.now()
      const { text, error } = await ask()
      expect([text, error]).toEqual(['You said: Hello', undefined])
      expect(performance.now() - began).toBeGreaterThanOrEqual(55)
    })

    test('sees an answer that drips, and no error', async () => {
      upstream.reply({ content: words })
      await inject({ fault: 'drip', bytes: 400, gap_ms: 1 })
      expect(await ask()).toEqual({ text: words.join('') })
    })

    test('sees an answer that is late for the limit on the first byte as a timeout', async () => {
      await inject({ fault: 'latency', ms: 60_000 })
      await gateway.module('idlekill', { config: { first_byte_ms: 30 } })
      const { error } = await ask()
      await gateway.module('idlekill', { config: null })
      expect(error).toMatchObject({
        status: 504,
        message: expect.stringContaining('gave no answer within 30 ms'),
      })
    })
  })

  test('sees a stream that breaks off on its way as an error after the words that came', async () => {
    upstream.reply({ content: words })
    await inject({ fault: 'truncated', after_bytes: 3000 })
    const { text, error } = await clients[name](true)
    expect(text).toContain('word1 ')
    expect(text).not.toContain('word29 ')
    expect(error).toMatchObject({ message: expect.stringContaining('broke off') })
  })

  test('sees a stream that gets too slow as an error after the words that came', async () => {
    upstream.reply({ content: words })
    await inject({ fault: 'drip', bytes: 3000, gap_ms: 60 })
    await gateway.module('idlekill', { config: { idle_ms: 1000 } })
    expect((await clients[name](true)).error).toBeUndefined()
    upstream.reply({ content: words })
    await inject({ fault: 'drip', bytes: 3000, gap_ms: 60_000 })
    await gateway.module('idlekill', { config: { idle_ms: 50 } })
    const { error } = await clients[name](true)
    await gateway.module('idlekill', { config: null })
    expect(error).toMatchObject({ message: expect.stringContaining('nothing more within 50 ms') })
  })
})

test('keys, retries and circuits take faults as real', async () => {
  await inject({ fault: 'server_error' })
  await gateway.module('retrypilot', { enabled: true, config: { max: 2, base_ms: 1 } })
  await gateway.module('fallbackrouter', { enabled: true, config: { failure_threshold: 3 } })
  const first = await openai.chat.completions.create(question).catch((error) => error)
  const second = await openai.chat.completions.create(question).catch((error) => error)
  for (const id of ['retrypilot', 'fallbackrouter']) await gateway.module(id, { enabled: false })
  expect(first).toMatchObject({ status: 502 })
  expect(second).toMatchObject({ status: 503, code: 'circuit_open' })
  const trace = await vi.waitFor(async () => {
    const { status, body } = await gateway.api(
      'GET',
      `/api/observe/traces/${first.headers.get('x-trace-id')}`,
    )
    expect(status).toBe(200)
    return body
  })
  expect(trace.attempts.map(({ status }: { status: number }) => status)).toEqual([500, 500, 500])
  const notes = trace.modules.filter(({ module }: { module: string }) => module === 'chaosllm')
  expect(notes).toMatchObject([{ verdict: 'injected' }, { verdict: 'injected' }, { verdict: 'injected' }])
})

test('an attempt that had to wait for its turn has its fault all the same', async () => {
  await gateway.module('queuepriority', { enabled: true, config: { concurrency: { openai: 1 } } })
  await inject({ fault: 'malformed' })
  upstream.reply({ delayMs: 50, times: 2 })
  const both = await Promise.all([clients.openai(false), clients.openai(false)])
  await gateway.module('queuepriority', { enabled: false })
  expect(both.map(({ error }) => error)).toEqual([
    expect.any(OpenAI.InternalServerError),
    expect.any(OpenAI.InternalServerError),
  ])
})

test('in shadow it breaks nothing', async () => {
  await inject({ fault: 'reset' })
  await gateway.module('chaosllm', { mode: 'shadow' })
  expect((await clients.openai(false)).error).toBeUndefined()
  await gateway.module('chaosllm', { mode: 'enforce' })
})

test('a gateway that was not started for it refuses to switch it on, with the reason', async () => {
  const safe = await startGateway({ upstream, env: { SERVICE_ALLOW_CHAOS: '' } })
  try {
    const { status, body } = await safe.api('PUT', '/api/proxy/modules/chaosllm', { enabled: true })
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('SERVICE_ALLOW_CHAOS=1')])
    const { body: module } = await safe.api('GET', '/api/proxy/modules/chaosllm')
    expect(module.state).not.toBe('active')
  } finally {
    await safe.close()
  }
})

test('nor does service.yaml switch it on there', async () => {
  const rules = [{ fault: 'reset', percent: 100 }]
  const config = { modules: { chaosllm: { enabled: true, config: { rules } } } }
  const safe = await startGateway({ upstream, config, env: { SERVICE_ALLOW_CHAOS: 'yes' } })
  try {
    const client = new OpenAI({ baseURL: `${safe.url}/v1`, apiKey: safe.adminKey, maxRetries: 0 })
    expect((await client.chat.completions.create(question)).choices).toHaveLength(1)
    const { body } = await safe.api('GET', '/api/proxy/modules/chaosllm')
    expect(body.problem).toContain('SERVICE_ALLOW_CHAOS=1')
  } finally {
    await safe.close()
  }
})
