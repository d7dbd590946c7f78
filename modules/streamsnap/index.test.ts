import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { traceOf } from '../../test/trace.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** As the API has it. */
type Trace = Awaited<ReturnType<TestGateway['api']>>['body']

const words = Array.from({ length: 20 }, (_, n) => `word${n} `)

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

beforeEach(() => upstream.reset())

afterEach(async () => {
  await gateway.module('streamsnap', { enabled: true, config: { store_chunks: null, max_bytes: null } })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function stream(): Promise<{ bytes: string; trace: Trace }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hello' }],
    }),
  })
  const bytes = await response.text()
  const trace = await traceOf(gateway, response)
  return { bytes, trace }
}

const contentOf = (trace: Trace): string => trace.response.choices[0].message.content

test('the stream passes byte for byte, whether it is watched or not', async () => {
  const frame = (text: string) =>
    `data:  {"id":"a","object":"chat.completion.chunk", "choices":[{"index":0,"delta":{"content":"${text}"},"x":1.50}]}\r\n\r\n`
  const end = 'data: {"id":"a","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
  const chunks = [...words.map(frame), end]
  upstream.reply({ chunks, times: 2 })
  const watched = await stream()
  await gateway.module('streamsnap', { enabled: false })
  const unwatched = await stream()
  expect(watched.bytes).toBe(chunks.join(''))
  expect(unwatched.bytes).toBe(watched.bytes)
  expect(contentOf(watched.trace)).toBe(words.join(''))
  expect(unwatched.trace.response).toBeNull()
})

test('how the stream came is measured', async () => {
  upstream.reply({ content: ['a', 'b', 'c'], gapMs: 60, firstByteDelayMs: 40 })
  const { trace } = await stream()
  const { stream: facts } = trace.facts
  expect(facts).toMatchObject({ client_left: false, truncated: false })
  expect(facts.chunks).toBeGreaterThanOrEqual(3)
  expect(facts.bytes).toBeGreaterThan(100)
  expect(facts.ttft_ms).toBeGreaterThanOrEqual(35)
  expect(facts.ttft_ms).toBeLessThanOrEqual(trace.latency_ms)
  expect(facts.longest_gap_ms).toBeGreaterThanOrEqual(50)
  expect(facts.longest_gap_ms).toBeLessThan(trace.latency_ms)
  expect(facts.tokens_per_second).toBeGreaterThan(0)
  expect(facts.chunk_ms).toBeUndefined()
})

test('chunk timings are kept when they are asked for', async () => {
  await gateway.module('streamsnap', { config: { store_chunks: true } })
  upstream.reply({ content: words })
  const { chunks, chunk_ms: timings, ttft_ms: first } = (await stream()).trace.facts.stream
  expect(timings).toHaveLength(chunks)
  expect(timings[0]).toBe(first)
  expect(timings).toEqual(timings.toSorted((a: number, b: number) => a - b))
})

test('of a stream that is too long the beginning is kept, and the client has all of it', async () => {
  await gateway.module('streamsnap', { config: { max_bytes: 2048 } })
  const long = Array.from({ length: 200 }, (_, n) => `word${n} `)
  upstream.reply({ content: long })
  const { bytes, trace } = await stream()
  expect(bytes).toContain('word199')
  expect(trace.body_status).toBe('truncated')
  expect(trace.facts.stream.truncated).toBe(true)
  expect(long.join('').startsWith(contentOf(trace))).toBe(true)
  expect(contentOf(trace)).not.toBe('')
})
