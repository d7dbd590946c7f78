import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const model = 'gpt-4o-mini'
const at = '/api/modules/batchqueue/calls'

let upstream: Upstream
let receiver: Receiver
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  receiver = await startReceiver()
  gateway = await startGateway({ upstream, config: { egress: { allow: ['127.0.0.1'] } } })
  for (const name of ['retrypilot', 'fallbackrouter']) await gateway.module(name, { enabled: false })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await receiver.close()
})

const usual = { models: [], tags: {}, concurrency: 4, window: 'always', max_queue: 1000 }
const configure = (config: Record<string, unknown> = {}) =>
  gateway.module('batchqueue', { enabled: true, config: { ...usual, ...config } })

/** Resolves when no call is to be made any more that a test before has put off. */
const idle = () =>
  expect
    .poll(
      async () =>
        (await gateway.api('GET', at)).body.calls.filter((one: { ended_at: unknown }) => !one.ended_at),
      { timeout: 20_000 },
    )
    .toEqual([])

beforeEach(async () => {
  upstream.reset()
  await configure()
})

interface Sent {
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly wire?: string
  readonly body?: object
}

async function send({ key = gateway.adminKey, headers = {}, wire = 'chat/completions', body }: Sent = {}) {
  const response = await fetch(`${gateway.url}/v1/${wire}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body ?? { model, messages: [{ role: 'user', content: 'Label this.' }] }),
  })
  const text = await response.text()
  return { status: response.status, text, id: response.headers.get('x-batch-id') }
}

/** Sends a call that is put off, and returns its id. */
async function defer(sent: Sent = {}): Promise<string> {
  const { status, text, id } = await send({ ...sent, headers: { 'x-batch': 'true', ...sent.headers } })
  expect([status, text]).toEqual([202, expect.stringContaining(`${at}/${id}`)])
  return id!
}

const show = async (id: string, key = gateway.adminKey) =>
  (await gateway.api('GET', `${at}/${id}`, undefined, key)).body
const ends = (id: string, status: string) =>
  expect.poll(async () => (await show(id)).status, { timeout: 20_000 }).toBe(status)

test('a call that is put off has its answer later, for its caller only, and a webhook tells of it', async () => {
  const hook = { name: 'Batch', url: `${receiver.url}/batch`, events: ['batch.call_ended'] }
  expect((await gateway.api('POST', '/api/webhooks', hook)).status).toBe(201)
  upstream.reply({ content: 'A label.' })
  const [{ key, userId }, other] = [await gateway.signUp('caller'), await gateway.signUp('other')]
  const id = await defer({ key, body: { model, stream: true, messages: [{ role: 'user', content: 'x' }] } })
  await ends(id, 'done')
  const { response, trace_id, ...row } = await show(id, key)
  expect(response.choices[0].message.content).toBe('A label.')
  expect(row).toMatchObject({ id, status: 'done', model, user_id: userId, error: null })
  const trace = () => gateway.api('GET', `/api/observe/traces/${trace_id}`, undefined, key)
  await expect.poll(async () => (await trace()).status, { timeout: 10_000 }).toBe(200)
  expect((await gateway.api('GET', `${at}/${id}`, undefined, other.key)).status).toBe(404)
  expect((await gateway.api('GET', at, undefined, key)).body.calls).toHaveLength(1)
  expect((await gateway.api('GET', at, undefined, other.key)).body.calls).toEqual([])
  await expect.poll(() => receiver.on('/batch').length, { timeout: 10_000 }).toBe(1)
  const told = receiver.on('/batch')[0]!.body
  expect([told.includes(id), told.includes('A label.')]).toEqual([true, false])
})

test('every wire and embeddings can wait, and are answered in the form of their kind', async () => {
  upstream.reply({ content: 'Later.', times: 2 })
  const messages = [{ role: 'user', content: 'Label this.' }]
  const ofMessages = await defer({ wire: 'messages', body: { model, max_tokens: 50, messages } })
  const ofResponses = await defer({ wire: 'responses', body: { model, input: 'Label this.' } })
  for (const id of [ofMessages, ofResponses]) {
    await ends(id, 'done')
    expect((await show(id)).response.choices[0].message.content).toBe('Later.')
  }
  const id = await defer({
    wire: 'embeddings',
    body: { model: 'text-embedding-3-small', input: 'Label this.' },
  })
  await ends(id, 'done')
  expect((await show(id)).response.data[0].embedding.length).toBeGreaterThan(0)
})

test('models and tags that are set wait by themselves, unless a call says no', async () => {
  upstream.reply({ content: 'Now.', times: 10 })
  await configure({ models: ['gpt-4o-m*'] })
  expect((await send()).status).toBe(202)
  expect((await send({ headers: { 'x-batch': 'false' } })).status).toBe(200)
  await configure({ tags: { job: 'nightly' } })
  expect((await send({ headers: { 'x-service-tags': 'job=nightly' } })).status).toBe(202)
  expect((await send()).status).toBe(200)
  await idle()
  const wrong = await send({ headers: { 'x-batch': 'maybe' } })
  expect([wrong.status, JSON.parse(wrong.text).error.message]).toEqual([400, 'X-Batch is true or false.'])
})

test('a failure that may pass is tried again, and one that does not is the result', async () => {
  upstream.reply({ status: 400, error: { message: 'secret words' } })
  const id = await defer()
  await ends(id, 'failed')
  const { error } = await show(id)
  expect([error.code, error.message.includes('secret words')]).toEqual(['bad_request', false])
  upstream.reply({ status: 503, error: { message: 'busy' }, headers: { 'retry-after': '1' } })
  upstream.reply({ content: 'At last.' })
  const again = await defer()
  await ends(again, 'done')
  expect(upstream.requests).toHaveLength(3)
}, 40_000)

describe('while the window is closed', () => {
  const hour = new Date(Date.now() + 2 * 3_600_000).toISOString().slice(11, 13)
  const closed = { window: { hours: [{ from: `${hour}:00`, to: `${hour}:30` }] } }

  test('calls wait, can be ended, and begin when it opens', async () => {
    await configure({ ...closed, max_queue: 2 })
    const { key } = await gateway.signUp('waiting')
    const [first, second] = [await defer({ key }), await defer({ key })]
    expect((await send({ headers: { 'x-batch': 'true' } })).status).toBe(429)
    const ended = await gateway.api('POST', `${at}/${first}/cancel`, undefined, key)
    expect(ended).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    expect((await gateway.api('POST', `${at}/${first}/cancel`, undefined, key)).status).toBe(409)
    expect((await show(second)).status).toBe('queued')
    expect(upstream.requests).toHaveLength(0)
    expect((await gateway.api('DELETE', `/api/jobs/${second}`)).status).toBe(405)
    await gateway.api('POST', `/api/jobs/${encodeURIComponent(`batchqueue.call:${second}`)}/cancel`)
    await ends(second, 'cancelled')
  })

  test('a person that is erased leaves nothing', async () => {
    await configure(closed)
    const { key, userId } = await gateway.signUp('erased')
    const id = await defer({ key })
    const erasure = await gateway.api('POST', '/api/modules/retentionwipe/erase', { user_id: userId })
    expect(erasure.status).toBeLessThan(300)
    await expect.poll(async () => (await gateway.api('GET', `${at}/${id}`)).status).toBe(404)
    expect((await gateway.api('GET', `/api/jobs/${id}`)).status).toBe(404)
  })
})
