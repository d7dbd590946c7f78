import { hash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { LedgerEntry } from '#kernel'
import { canonicalJson } from '#kit'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { traceOf } from '../../test/trace.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

beforeEach(async () => {
  upstream.reset()
  await gateway.module('compliancelog', { enabled: true, config: null })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

interface Made {
  readonly status: number
  readonly entry: LedgerEntry
  // biome-ignore lint/suspicious/noExplicitAny: as the API has it
  readonly trace: any
}

const entryOf = async (traceId: string): Promise<LedgerEntry | undefined> => {
  const { body } = await gateway.api('GET', '/api/trust/ledger?event_type=call.settled&limit=50')
  return body.entries.find((entry: LedgerEntry) => entry.trace_id === traceId)
}

const post = (body: object, key: string) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }], ...body }),
  })

async function call(body: object = {}, key = gateway.adminKey): Promise<Made> {
  const response = await post(body, key)
  await response.text()
  const trace = await traceOf(gateway, response)
  await expect.poll(() => entryOf(trace.id)).toBeDefined()
  return { status: response.status, entry: (await entryOf(trace.id))!, trace }
}

const sha256 = (body: unknown): string => hash('sha256', canonicalJson(body))

test('an entry says who called which model, what it cost, and the hashes of both bodies', async () => {
  const { userId, key } = await gateway.signUp('caller')
  const { entry, trace } = await call({}, key)
  expect(entry).toMatchObject({
    source: 'gateway',
    event_type: 'call.settled',
    actor: { type: 'user', id: userId },
    resource: { type: 'model', id: 'gpt-4o-mini' },
    verdict: 'ok',
    detail: {
      key_id: trace.key_id,
      project: 'default',
      model_asked: 'gpt-4o-mini',
      provider: 'openai',
      status: 200,
      stream: false,
      findings: [],
      tokens_in: trace.tokens_in,
      tokens_out: trace.tokens_out,
      request_sha256: sha256(trace.request),
      response_sha256: sha256(trace.response),
    },
  })
  expect(entry.detail.cost_nano).toBe(Math.round(trace.cost_usd * 1e9))
  expect(JSON.stringify(entry)).not.toContain('Hello')
})

test('a stream with an event that is no JSON is entered with the hash of the rest, however often that happens', async () => {
  const event = (content: string) =>
    `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`
  for (let n = 0; n < 7; n++) {
    upstream.reply({ chunks: [event('a'), event('b'), event('\\x'), 'data: [DONE]\n\n'] })
    const { entry, trace, status } = await call({ stream: true })
    expect([status, entry.verdict, entry.detail.response_sha256]).toEqual([200, 'ok', sha256(trace.response)])
    expect(trace.response.choices).toMatchObject([{ message: { content: 'ab' } }])
    expect(entry.detail.request_sha256).toMatch(/^[0-9a-f]{64}$/)
  }
})

test('a stream has the hash of the plain answer that its trace shows', async () => {
  const { entry, trace } = await call({ stream: true, stream_options: { include_usage: true } })
  expect(entry.detail).toMatchObject({ stream: true, response_sha256: sha256(trace.response) })
})

test('equal answers have equal hashes, however they came', async () => {
  const fixed = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'gpt-4o-mini' }
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
  const message = { role: 'assistant', content: 'Hi there' }
  upstream.reply({
    body: {
      usage,
      ...fixed,
      object: 'chat.completion',
      choices: [{ finish_reason: 'stop', index: 0, message }],
    },
  })
  const plain = await call()
  const chunk = (delta: object, finish_reason: string | null = null, more = {}) =>
    `data: ${JSON.stringify({ ...fixed, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`
  upstream.reply({
    chunks: [
      chunk({ role: 'assistant', content: 'Hi ' }),
      chunk({ content: 'there' }),
      chunk({}, 'stop'),
      `data: ${JSON.stringify({ ...fixed, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
      'data: [DONE]\n\n',
    ],
  })
  const stream = await call({ stream: true, stream_options: { include_usage: true } })
  expect(stream.trace.response).toEqual(plain.trace.response)
  expect(stream.entry.detail.response_sha256).toBe(plain.entry.detail.response_sha256)
})

test('a call that a guard refuses is in the ledger with its verdict, unless refusals are left out', async () => {
  await gateway.module('secretscan', { enabled: true, config: { request: 'block' } })
  const secret = `ghp_${'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'}`
  const messages = [{ role: 'user', content: `my token is ${secret}` }]
  const { status, entry } = await call({ messages })
  expect(status).toBe(400)
  expect(entry).toMatchObject({
    verdict: 'blocked',
    detail: {
      error: { module: 'secretscan', type: 'content_blocked' },
      findings: [{ module: 'secretscan', action: 'block', type: 'secret' }],
      response_sha256: null,
    },
  })
  expect(JSON.stringify(entry)).not.toContain(secret)
  await gateway.module('compliancelog', { config: { on_refusals: false } })
  const refused = await post({ messages }, gateway.adminKey)
  await refused.text()
  await gateway.module('secretscan', { enabled: false })
  const { entry: next } = await call()
  expect(next.seq).toBeGreaterThan(entry.seq)
  expect(await entryOf(refused.headers.get('x-trace-id')!)).toBeUndefined()
})

test('an entry tells what the settings include, and of an address a commitment', async () => {
  await gateway.module('compliancelog', { config: { include: ['ip'] } })
  const { entry } = await call()
  expect(Object.keys(entry.detail).sort()).toEqual(['ip', 'source', 'status', 'stream'])
  expect(entry.detail.ip).toMatch(/^commitment:salt_/)
})

test.each([
  ['half a character', 'Hello \ud83d', { content: 'Hello \ufffd' }],
  ['more text than is hashed at once', 'x'.repeat(200_000), {}],
])('a body with %s has a hash too', async (_, content, more) => {
  const { entry, trace } = await call({ messages: [{ role: 'user', content }] })
  const request = { ...trace.request, messages: [{ ...trace.request.messages[0], ...more }] }
  expect(entry.detail.request_sha256).toBe(sha256(request))
})

test('the chain is whole after a thousand calls and a thousand changes at once', async () => {
  const entered = async (type: string): Promise<number> =>
    (await gateway.api('GET', `/api/trust/ledger?event_type=${type}`)).body.total
  const before = await entered('call.settled')
  upstream.reply({ content: 'Hi', times: 1000 })
  const body = { event_type: 'test.done', action: 'do' }
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      for (let n = 0; n < 20; n++) {
        const [answer] = await Promise.all([
          post({}, gateway.adminKey),
          gateway.api('POST', '/api/trust/ledger', body),
        ])
        expect((await answer.text()).length).toBeGreaterThan(0)
      }
    }),
  )
  expect(await entered('test.done')).toBe(1000)
  // By kinds: a change of the module, too, is entered, a moment after it was made.
  await expect.poll(() => entered('call.settled'), { timeout: 20_000 }).toBe(before + 1000)
  const { body: verified } = await gateway.api('GET', '/api/trust/ledger/verify')
  expect(verified.valid).toBe(true)
})
