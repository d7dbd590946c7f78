import OpenAI from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { type CollectedSpan, type Collector, startCollector } from '../../test/collector.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { shared } from '../../test/shared.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

interface Running {
  readonly main: Upstream
  readonly spare: Upstream
  readonly collector: Collector
  readonly gateway: TestGateway
  readonly client: OpenAI
  close(): Promise<void>
}

const running = shared<Running>(async () => {
  const [main, spare, collector] = await Promise.all([startUpstream(), startUpstream(), startCollector()])
  const like = { type: 'openai', api_key: 'sk-test' }
  const gateway = await startGateway({
    config: {
      prices: { 'main/gpt-4o': { input_usd_per_m: 1, output_usd_per_m: 1 } },
      providers: {
        main: { ...like, base_url: main.baseUrl(), models: ['gpt-*'] },
        spare: { ...like, base_url: spare.baseUrl(), models: ['gpt-4o', 'rival'] },
      },
      modules: {
        retrypilot: { config: { base_ms: 1, max: 1, budget_pct: 100 } },
        fallbackrouter: { config: { chains: { 'gpt-4o': ['gpt-4o', 'rival'] } } },
        tracelink: { config: { otlp_endpoint: collector.url } },
      },
    },
  })
  return {
    main,
    spare,
    collector,
    gateway,
    client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 }),
    async close() {
      await gateway.close()
      await Promise.all([main.close(), spare.close(), collector.close()])
    },
  }
})

beforeEach(() => {
  running.main.reset()
  running.spare.reset()
  running.collector.answer(200)
})

const trace = '0af7651916cd43dd8448eb211c80319c'
const parent = 'b7ad6b7169203331'
const traceparent = `00-${trace}-${parent}-01`
const request = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hello' }] }

const ask = (headers: Record<string, string> = { traceparent }) =>
  running.client.chat.completions.create(request, { headers }).withResponse()

/** The spans of the trace that an answer belongs to, as soon as so many have come: the call's first, then its attempts'. */
async function spansOf(response: Response, count: number): Promise<CollectedSpan[]> {
  const id = response.headers.get('x-trace-id')
  const found = () => {
    const own = running.collector.spans.find(({ attributes }) => attributes['switchyard.trace_id'] === id)
    if (!own) return []
    return [own, ...running.collector.spans.filter(({ parentSpanId }) => parentSpanId === own.spanId)]
  }
  await expect.poll(() => found().length, { timeout: 20_000 }).toBe(count)
  return found().toSorted((a, b) => a.start - b.start || a.kind - b.kind)
}

test('a call is a child of its client, and the provider a child of the attempt', async () => {
  const { response } = await ask({ traceparent, tracestate: 'vendor=1,other=2' })
  const [call, attempt] = await spansOf(response, 2)
  expect(call).toMatchObject({
    name: 'chat gpt-4o',
    kind: 2,
    traceId: trace,
    parentSpanId: parent,
    status: 0,
  })
  expect(attempt).toMatchObject({ name: 'chat gpt-4o', kind: 3, traceId: trace, parentSpanId: call!.spanId })
  expect(call!.traceState).toBe('vendor=1,other=2')
  const [sent] = running.main.requests
  expect(sent!.headers.traceparent).toBe(`00-${trace}-${attempt!.spanId}-01`)
  expect(sent!.headers.tracestate).toBe('vendor=1,other=2')
  expect(response.headers.get('traceresponse')).toBe(`00-${trace}-${call!.spanId}-01`)
  expect(response.headers.get('x-trace-id')).toMatch(/^tr_/)
})

test('a call of several models says how many of them have no price', async () => {
  const config = { models: ['main/gpt-4o', 'spare/rival'], mode: 'all' }
  const { gateway, client } = running
  await gateway.module('multicall', { enabled: true, config })
  try {
    const { response } = await client.chat.completions.create(request).withResponse()
    const [call] = await spansOf(response, 3)
    expect(call!.attributes['switchyard.cost_usd']).toBeGreaterThan(0)
    expect(call!.attributes['switchyard.unpriced_attempts']).toBe(1)
  } finally {
    await gateway.module('multicall', { enabled: false, config: null })
  }
  const { response } = await ask()
  expect((await spansOf(response, 2))[0]!.attributes).not.toHaveProperty('switchyard.unpriced_attempts')
})

test('a span has the facts of the call by the conventions for generative AI, and no text', async () => {
  running.main.reply({ content: 'The secret of life', finishReason: 'stop' })
  const { data, response } = await ask({ 'x-session-id': 'talk-1' })
  const [call, attempt] = await spansOf(response, 2)
  expect(call!.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'main',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.model': data.model,
    'gen_ai.response.id': data.id,
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': data.usage!.prompt_tokens,
    'gen_ai.usage.output_tokens': data.usage!.completion_tokens,
    'gen_ai.conversation.id': 'talk-1',
  })
  expect(call!.resource).toMatchObject({ 'service.name': 'switchyard' })
  expect(attempt!.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'main',
    'gen_ai.request.model': 'gpt-4o',
    'http.response.status_code': 200,
  })
  expect(JSON.stringify([call, attempt])).not.toMatch(/secret of life|Hello/)
})

test('a retry and a fallback are a span each, and the trace has the ids of all of them', async () => {
  running.main.reply({ status: 500, times: 2 })
  const { response } = await ask()
  const [call, ...attempts] = await spansOf(response, 4)
  const facts = attempts.map(({ attributes, status }) => [
    attributes['gen_ai.provider.name'],
    attributes['error.type'],
    attributes['http.request.resend_count'],
    status,
  ])
  expect(facts).toEqual([
    ['main', '500', undefined, 2],
    ['main', '500', 1, 2],
    ['spare', undefined, 2, 0],
  ])
  expect(call!.status).toBe(0)
  const sent = [...running.main.requests, ...running.spare.requests].map(({ headers }) => headers.traceparent)
  expect(sent).toEqual(attempts.map(({ spanId }) => `00-${trace}-${spanId}-01`))
  const { body } = await running.gateway.api(
    'GET',
    `/api/observe/traces/${response.headers.get('x-trace-id')}`,
  )
  expect(body.facts.trace_context).toEqual({
    trace_id: trace,
    span_id: call!.spanId,
    parent_id: parent,
    sampled: true,
    attempts: attempts.map(({ spanId }) => spanId),
  })
})

test('attempts that race are a span each, also the one that loses', async () => {
  await running.gateway.module('hedgerace', {
    enabled: true,
    config: { targets: { 'gpt-4o': ['rival'] }, delay_ms: 10, max_extra_pct: 100 },
  })
  const gate = Promise.withResolvers<void>()
  running.main.reply({ gate: { opened: gate.promise } })
  running.spare.reply({ content: 'first' })
  const { response } = await ask()
  gate.resolve()
  await running.gateway.module('hedgerace', { enabled: false })
  const [call, loser, winner] = await spansOf(response, 3)
  expect(call!.attributes['gen_ai.provider.name']).toBe('spare')
  expect(loser!.attributes['gen_ai.provider.name']).toBe('main')
  expect(winner!.attributes['gen_ai.provider.name']).toBe('spare')
  const sent = [running.main.requests[0], running.spare.requests[0]].map((one) => one!.headers.traceparent)
  expect(sent).toEqual([loser, winner].map((span) => `00-${trace}-${span!.spanId}-01`))
})

test('a call that fails is an error, of the kind that the provider said', async () => {
  running.main.reply({ status: 400, error: { message: 'What is Hello?' } })
  const error = (await ask().catch((thrown: unknown) => thrown)) as InstanceType<typeof OpenAI.APIError>
  const response = { headers: error.headers! } as Response
  const [call, attempt] = await spansOf(response, 2)
  for (const span of [call, attempt]) {
    expect(span!.status).toBe(2)
    expect(span!.attributes['error.type']).toBe('400')
  }
  expect(JSON.stringify([call, attempt])).not.toContain('Hello')
})

test('a call that is refused before any attempt has one span', async () => {
  const error = (await running.client.chat.completions
    .create({ ...request, model: 'nobody-has-this' })
    .catch((thrown: unknown) => thrown)) as InstanceType<typeof OpenAI.APIError>
  const [call] = await spansOf({ headers: error.headers! } as Response, 1)
  expect(call).toMatchObject({ parentSpanId: '', status: 2 })
  expect(call!.attributes['error.type']).toEqual(expect.any(String))
})

test('the spans of a stream end with it, not before', async () => {
  const gate = Promise.withResolvers<void>()
  running.main.reply({ content: ['one ', 'two'], gate: { opened: gate.promise, after: 2 } })
  const { data, response } = await running.client.chat.completions
    .create({ ...request, stream: true }, { headers: { traceparent } })
    .withResponse()
  let released = 0
  for await (const _ of data) {
    if (released > 0) continue
    // Time passes in it.
    await running.gateway.api('GET', '/api/status')
    // A span's end is counted from its start on, by a clock that may differ from this one by a millisecond.
    released = Date.now() - 1
    gate.resolve()
  }
  const [call, attempt] = await spansOf(response, 2)
  expect(call!.end).toBeGreaterThanOrEqual(released)
  expect(attempt!.end).toBeGreaterThanOrEqual(released)
  expect(call!.attributes).toMatchObject({
    'gen_ai.request.stream': true,
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'gen_ai.response.finish_reasons': ['stop'],
  })
})

describe('sampling', () => {
  test('a client that does not sample its trace gets no span, and its decision is passed on', async () => {
    await ask({ traceparent: `00-${trace}-${parent}-00` })
    expect(running.main.requests[0]!.headers.traceparent).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`))
    const { response } = await ask()
    await spansOf(response, 2)
    const spans = running.collector.spans.filter(({ parentSpanId }) => parentSpanId === parent)
    expect(spans.every(({ traceId }) => traceId === trace)).toBe(true)
    const { body } = await running.gateway.api('GET', '/api/observe/traces?limit=2')
    const unsampled = body.traces.map(({ id }: { id: string }) => id)
    const seen = running.collector.spans.map(({ attributes }) => attributes['switchyard.trace_id'])
    expect(seen).not.toContain(unsampled[1])
  })

  test('a ratio of 0 samples no trace that begins here', async () => {
    await running.gateway.module('tracelink', { config: { sample_ratio: 0 } })
    await ask({})
    expect(running.main.requests[0]!.headers.traceparent).toMatch(/-00$|-02$/)
    await running.gateway.module('tracelink', { config: { sample_ratio: null } })
    await ask({})
    expect(running.main.requests[1]!.headers.traceparent).toMatch(/-01$|-03$/)
  })
})

test('texts are sent only when that is asked for, and as the guards have left them', async () => {
  await running.gateway.module('maskmode', { enabled: true })
  await running.gateway.module('tracelink', { config: { capture_content: true } })
  running.main.reply({ content: 'Write to jane@example.com' })
  const messages = [{ role: 'user' as const, content: 'I am joe@example.com' }]
  const { response } = await running.client.chat.completions.create({ ...request, messages }).withResponse()
  const [call] = await spansOf(response, 2)
  await running.gateway.module('maskmode', { enabled: false })
  await running.gateway.module('tracelink', { config: { capture_content: null } })
  const input = JSON.parse(call!.attributes['gen_ai.input.messages'] as string)
  const output = JSON.parse(call!.attributes['gen_ai.output.messages'] as string)
  expect(input).toEqual([
    { role: 'user', parts: [{ type: 'text', content: expect.stringMatching(/^I am /) }] },
  ])
  expect(output).toEqual([
    {
      role: 'assistant',
      parts: [{ type: 'text', content: expect.stringMatching(/^Write to /) }],
      finish_reason: 'stop',
    },
  ])
  expect(JSON.stringify(call)).not.toContain('joe@example.com')
})

test('switching the module off sends what waits, and later calls leave no trace', async () => {
  const { response } = await ask()
  await running.gateway.module('tracelink', { enabled: false })
  await spansOf(response, 2)
  running.main.reset()
  const { response: plain } = await ask()
  expect(running.main.requests[0]!.headers.traceparent).toBeUndefined()
  expect(plain.headers.get('traceresponse')).toBeNull()
  await running.gateway.module('tracelink', { enabled: true })
})

test.each(['http://user:secret@127.0.0.1:4318', 'ftp://127.0.0.1', 'collector'])(
  '%s is refused as an address',
  async (otlp_endpoint) => {
    const { status, body } = await running.gateway.api('PUT', '/api/proxy/modules/tracelink', {
      config: { otlp_endpoint },
    })
    expect(status).toBe(400)
    expect(body.error.message).toContain('otlp_endpoint')
  },
)
