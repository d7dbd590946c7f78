import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { TraceDetail } from './shapes.ts'

const model = 'gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'Say hello' }]

let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }
let client: OpenAI

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { plugin_dirs: [path.resolve('test/fixtures/modules')] } })
  user = await gateway.signUp('tracer')
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: user.key, maxRetries: 0 })
  for (const name of ['retrypilot', 'fallbackrouter']) {
    await gateway.kernel.registry.change(name, { enabled: false }).catch(() => {})
  }
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function trace(id: string): Promise<TraceDetail> {
  const { status, body } = await gateway.api('GET', `/api/observe/traces/${id}`, undefined, user.key)
  expect(status).toBe(200)
  return body
}

async function search(text: string) {
  const query = `/api/observe/traces?q=${encodeURIComponent(text)}`
  return (await gateway.api('GET', query, undefined, user.key)).body
}

let seen: string | undefined

/** The user's newest trace, once it is another than the one before and has this status. */
async function newest(status: string): Promise<TraceDetail> {
  const latest = async () =>
    (await gateway.api('GET', '/api/observe/traces?limit=1', undefined, user.key)).body.traces[0]
  const isNew = (found: TraceDetail): boolean => found.status === status && found.id !== seen
  await expect.poll(latest, { timeout: 10_000 }).toSatisfy(isNew)
  const { id } = await latest()
  seen = id
  return trace(id)
}

async function plain(more: object = {}, headers: Record<string, string> = {}) {
  const { response, data } = await client.chat.completions
    .create({ model, messages, ...more }, { headers })
    .withResponse()
  return { data, trace: await trace(response.headers.get('x-trace-id')!) }
}

async function streamed(more: object = {}) {
  const { response, data } = await client.chat.completions
    .create({ model, messages, stream: true, ...more })
    .withResponse()
  let text = ''
  for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
  return { text, trace: await trace(response.headers.get('x-trace-id')!) }
}

describe('an answered call', () => {
  test('leaves who, what, how long and for how much', async () => {
    upstream.reply({
      content: 'Hello there',
      usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 },
    })
    const headers = {
      'x-project': 'docs',
      'x-service-tags': 'team=core,env=prod',
      'x-session-id': 'chat-7',
      'x-request-id': 'mine-1',
    }
    const { trace, data } = await plain({ temperature: 0.5 }, headers)
    expect(trace).toMatchObject({
      request_id: 'mine-1',
      session_id: 'chat-7',
      source: 'proxy',
      operation: 'chat',
      wire: 'chat',
      user_id: user.userId,
      project: 'docs',
      tags: { team: 'core', env: 'prod' },
      model_requested: model,
      model,
      provider: 'openai',
      provider_model: model,
      status: 'ok',
      status_code: 200,
      error: null,
      stream: false,
      tokens_in: 1000,
      tokens_out: 500,
      usage: { input: 1000, output: 500, source: 'provider' },
      cost_usd: 0.00045,
      cost: { input: 0.00015, output: 0.0003, cache: 0, other: 0, source: 'catalogue', saved_usd: 0 },
      finish_reason: 'stop',
      cached: false,
      body_status: 'stored',
      request: { model, messages, temperature: 0.5 },
      attempts: [{ n: 1, provider: 'openai', model, status: 200, error: null, reason_next: null }],
    })
    expect(trace.key_id).toMatch(/^key_/)
    expect(trace.response).toEqual(data)
    expect(trace.latency_ms).toBeCloseTo(trace.upstream_ms + trace.overhead_ms, 6)
    expect(trace.tokens_per_second).toBeGreaterThan(0)
    expect(trace.attempts[0]!.key_hint).toBe('test')
    const tookMs = Date.parse(trace.completed_at) - Date.parse(trace.timestamp)
    expect(Math.abs(tookMs - trace.latency_ms)).toBeLessThanOrEqual(1)
    expect(trace.modules.map(({ module }) => module)).toContain('idlekill')
  })

  test('leaves the same when it is streamed', async () => {
    const script = {
      content: 'The same answer, whatever its form.',
      usage: { prompt_tokens: 9, completion_tokens: 8, total_tokens: 17 },
    }
    upstream.reply(script)
    upstream.reply(script)
    const { trace: whole } = await plain()
    const { trace: stream, text } = await streamed()
    expect(text).toBe(script.content)
    expect(essence(stream.response)).toEqual(essence(whole.response))
    expect(Object.keys(stream).sort()).toEqual(Object.keys(whole).sort())
    for (const field of [
      'status',
      'usage',
      'cost',
      'finish_reason',
      'provider',
      'model',
      'body_status',
    ] as const) {
      expect(stream[field]).toEqual(whole[field])
    }
    expect(stream.stream).toBe(true)
    expect(stream.ttft_ms).toBeLessThanOrEqual(stream.latency_ms)
    expect(stream.facts.stream).toMatchObject({ client_left: false, truncated: false })
  })

  test.each([false, true])(
    'of several models says how many of them have no price (streamed: %j)',
    async (stream) => {
      const config = { models: [model, 'openai/unpriced'], mode: 'all' }
      await gateway.module('multicall', { enabled: true, config })
      try {
        const { trace: found } = stream ? await streamed() : await plain()
        expect(found.attempts.map(({ cost_usd }) => cost_usd === null).toSorted()).toEqual([false, true])
        expect(found.cost_usd).toBe(found.attempts.find(({ cost_usd }) => cost_usd !== null)!.cost_usd)
        expect(found.cost).toMatchObject({ unpriced: 1 })
        const { body } = await gateway.api('GET', `/api/observe/traces/${found.id}/explain`)
        expect(body.price).toMatchObject({
          ...{ total_usd: found.cost_usd, items: [], reproduced: false },
          reason: expect.stringContaining('not known'),
        })
      } finally {
        await gateway.module('multicall', { enabled: false, config: null })
      }
      const { trace: whole } = await plain()
      expect(whole.cost).not.toHaveProperty('unpriced')
    },
  )

  test('has its tool calls and reasoning in the trace, streamed or not', async () => {
    const tools = [
      { type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } },
    ]
    const script = {
      reasoning: 'Look outside.',
      toolCalls: [
        { id: 'call_1', name: 'weather', arguments: { city: 'Bern' } },
        { id: 'call_2', name: 'weather', arguments: { city: 'Basel' } },
      ],
    }
    upstream.reply(script)
    upstream.reply(script)
    const { trace: whole } = await plain({ tools })
    const { trace: stream } = await streamed({ tools })
    expect(messageOf(stream).tool_calls).toHaveLength(2)
    expect(messageOf(stream).tool_calls).toEqual(messageOf(whole).tool_calls)
    expect(messageOf(stream).reasoning_content).toBe('Look outside.')
    for (const { usage } of [whole, stream])
      expect(usage).toMatchObject({ tool_calls: 2, search_calls: null })
  })

  test('of embeddings has its vectors', async () => {
    const { response, data } = await client.embeddings
      .create({ model: 'text-embedding-3-small', input: 'a', encoding_format: 'float' })
      .withResponse()
    const found = await trace(response.headers.get('x-trace-id')!)
    expect(found).toMatchObject({ operation: 'embedding', wire: 'embeddings', status: 'ok' })
    expect((found.response as { data: unknown[] }).data).toEqual(data.data)
  })
})

describe('a call that failed', () => {
  test('by the provider is an error with the provider’s status', async () => {
    upstream.reply({ status: 500, error: { message: 'boom' } })
    await expect(client.chat.completions.create({ model, messages })).rejects.toThrow()
    expect(await newest('error')).toMatchObject({
      status_code: 502,
      error: { code: 'provider_error', provider_status: 500, retryable: true },
      cost_usd: 0,
      tokens_in: 0,
      usage: { source: 'none' },
      request: { model, messages },
      response: null,
      attempts: [{ n: 1, status: 500 }],
    })
  })

  test('by a limit of the gateway is rate limited, and its request is not kept uninspected', async () => {
    await gateway.kernel.registry.change('turnstile', { enabled: true })
    const headers = { 'x-project': 'closed' }
    await expect(client.chat.completions.create({ model, messages }, { headers })).rejects.toThrow(/429/)
    const found = await newest('rate_limited')
    expect(found).toMatchObject({
      status_code: 429,
      error: { code: 'rate_limited' },
      provider: null,
      attempts: [],
      request: null,
      response: null,
      body_status: 'redacted',
    })
    expect(found.modules).toContainEqual(
      expect.objectContaining({ module: 'turnstile', hook: 'request', verdict: 'refused' }),
    )
  })

  test('because the model is unknown is an error without a provider', async () => {
    await expect(client.chat.completions.create({ model: 'nobody-has-this', messages })).rejects.toThrow(
      /404/,
    )
    expect(await newest('error')).toMatchObject({
      status_code: 404,
      provider: null,
      error: { code: 'not_found' },
    })
  })

  test('in the middle of its stream keeps what had come', async () => {
    upstream.reply({ content: ['one ', 'two ', 'three'], cutAfter: 3, gapMs: 5 })
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    let text = ''
    await expect(
      (async () => {
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
      })(),
    ).rejects.toThrow()
    const found = await newest('error')
    expect(found).toMatchObject({ status_code: 200, error: { code: 'provider_error' }, finish_reason: null })
    expect(messageOf(found).content).toBe(text)
    expect(text).not.toBe('')
  })

  test('because nothing came in time is a timeout', async () => {
    await gateway.module('idlekill', { config: { first_byte_ms: 60 } })
    upstream.reply({ hang: true })
    await expect(client.chat.completions.create({ model, messages })).rejects.toThrow(/504/)
    await gateway.module('idlekill', { config: { first_byte_ms: null } })
    expect(await newest('timeout')).toMatchObject({ status_code: 504, error: { code: 'provider_error' } })
  })
})

describe('a client that leaves', () => {
  test('a stream leaves the tokens it saw, with an estimated usage', async () => {
    upstream.reply({ content: ['one ', 'two ', 'three ', 'four'], hangAfter: 4 })
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    let text = ''
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      if (text.endsWith('three ')) break
    }
    stream.controller.abort()
    const found = await newest('client_abort')
    expect(messageOf(found).content).toBe('one two three ')
    expect(found.usage.source).toBe('estimated')
    expect(found.tokens_out).toBeGreaterThanOrEqual(3)
    expect(found.cost_usd).toBeGreaterThan(0)
    expect(found.error).toBeNull()
    expect(found.facts.stream).toMatchObject({ client_left: true })
  })

  test('a provider that reports no usage has it counted with the tokenizer of the model, and marked', async () => {
    upstream.reply({ content: 'hello world', usage: null })
    const asked = { model, messages: [{ role: 'user' as const, content: 'hello world' }] }
    await client.chat.completions.create(asked)
    const plain = await newest('ok')
    expect(plain).toMatchObject({ tokens_in: 9, tokens_out: 2, usage: { source: 'estimated' } })
    expect(plain.cost_usd).toBeGreaterThan(0)
    upstream.reply({ content: ['hello', ' world'], usage: null })
    for await (const _ of await client.chat.completions.create({ ...asked, stream: true }));
    const streamed = await newest('ok')
    expect(streamed).toMatchObject({ tokens_in: 9, tokens_out: 2, usage: { source: 'estimated' } })
    expect(streamed.id).not.toBe(plain.id)
  })

  test('a plain call has the time it waited counted as the provider’s', async () => {
    upstream.reply({ hang: true })
    const left = new AbortController()
    const call = client.chat.completions.create({ model, messages }, { signal: left.signal })
    await upstream.received(1)
    setTimeout(() => left.abort(), 300)
    await expect(call).rejects.toThrow()
    const found = await newest('client_abort')
    expect(found).toMatchObject({ status_code: 499, response: null })
    expect(found.upstream_ms).toBeGreaterThan(200)
    expect(found.overhead_ms).toBeLessThan(found.upstream_ms)
  })
})

describe('bodies', () => {
  test('that are too large are there as their beginning', async () => {
    await gateway.kernel.registry.change('observe', { config: { max_body_bytes: 1024 } })
    const { trace: found } = await plain({ messages: [{ role: 'user', content: 'é'.repeat(2000) }] })
    await gateway.kernel.registry.change('observe', { config: { max_body_bytes: null } })
    expect(found.body_status).toBe('truncated')
    expect(found.request).toMatchObject({ truncated: true, bytes: expect.any(Number) })
    const { text } = found.request as { text: string }
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024)
    expect(text).toContain('"content":"éé')
  })

  test('are not stored when they are switched off', async () => {
    await gateway.kernel.registry.change('observe', { config: { bodies: 'off' } })
    const { trace: found } = await plain()
    await gateway.kernel.registry.change('observe', { config: { bodies: null } })
    expect(found).toMatchObject({ body_status: 'off', request: null, response: null, status: 'ok' })
  })

  test('are what the gateway has read, whatever else a client has written', async () => {
    const body = String.raw`{ "model": "${model}", "messages": [
      { "role": "user", "content": "unread", "content": "Gr\u00fcezi a\/b\n" } ] }`
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
      body,
    })
    const { id, request } = await trace(response.headers.get('x-trace-id')!)
    expect(request).toEqual(JSON.parse(body))
    expect((await search('Grüezi a/b\n')).traces[0]).toMatchObject({ id })
    expect((await search('unread')).total).toBe(0)
  })

  test('are found by their texts, however the provider has written them', async () => {
    const written = String.raw`{ "choices": [ { "index": 0, "finish_reason": "stop",
      "message": { "role": "assistant", "content": "Z\u00fcri \"und\" Ol\/ten" } } ],
      "usage": { "prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5 } }`
    upstream.reply({ body: written })
    const { trace: found } = await plain()
    expect(found.response).toEqual(JSON.parse(written))
    expect((await search('Züri "und" Ol/ten')).traces[0]).toMatchObject({ id: found.id })
  })

  test('are what was sent on after redaction, not what the client wrote', async () => {
    await gateway.kernel.registry.change('inker', { enabled: true })
    const words = { messages: [{ role: 'user' as const, content: 'It is classified.' }] }
    upstream.reply({ content: 'Very classified.', times: 2 })
    const { trace: whole } = await plain(words)
    const { trace: stream } = await streamed(words)
    await gateway.kernel.registry.change('inker', { enabled: false })
    for (const found of [whole, stream]) {
      expect(JSON.stringify(found)).not.toContain('classified')
      expect(found.request).toMatchObject({ messages: [{ content: 'It is [ink].' }] })
      expect(messageOf(found).content).toBe('Very [ink].')
    }
    expect(whole.modules.filter(({ module }) => module === 'inker')).toEqual([
      expect.objectContaining({
        hook: 'request',
        verdict: 'redacted',
        detail: expect.objectContaining({ label: 'word', direction: 'request' }),
      }),
      expect.objectContaining({
        verdict: 'redacted',
        detail: expect.objectContaining({ label: 'word', direction: 'reply' }),
      }),
    ])
  })
})

test('a call is recorded once while the area is reconfigured during it', async () => {
  upstream.reply({ content: ['slow ', 'stream'], gapMs: 150 })
  const before = (await gateway.api('GET', '/api/observe/traces')).body.total
  const stream = await client.chat.completions.create({ model, messages, stream: true })
  await gateway.kernel.registry.change('observe', { config: { max_body_bytes: 2048 } })
  await gateway.kernel.registry.change('observe', { config: { max_body_bytes: null } })
  for await (const _ of stream);
  await plain()
  expect((await gateway.api('GET', '/api/observe/traces')).body.total).toBe(before + 2)
})

test('traces outlive a restart', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  const options = { upstream, dataDir }
  const before = await startGateway(options)
  const response = await fetch(`${before.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${before.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages }),
  })
  await response.json()
  await before.close()
  const after = await startGateway(options)
  const id = response.headers.get('x-trace-id')
  expect((await after.api('GET', `/api/observe/traces/${id}`)).body).toMatchObject({
    id,
    request: { messages },
  })
  expect((await after.api('GET', '/api/observe/overview')).body.total_requests).toBe(1)
  await after.close()
  await rm(dataDir, { recursive: true })
})

interface Message {
  readonly content: string | null
  readonly tool_calls?: unknown[]
  readonly reasoning_content?: string
}

const messageOf = ({ response }: TraceDetail): Message =>
  (response as { choices: { message: Message }[] }).choices[0]!.message

/** An answer without what differs from call to call, and without fields that say nothing. */
function essence(response: unknown): unknown {
  const { id, created, ...rest } = response as Record<string, unknown>
  return JSON.parse(JSON.stringify({ ...rest, hasId: typeof id, hasTime: typeof created }), (_, value) =>
    value === null || (Array.isArray(value) && value.length === 0) ? undefined : value,
  )
}
