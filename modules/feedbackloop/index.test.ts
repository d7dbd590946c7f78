import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** Makes a call by the official client; resolves with the id of its trace, once that is there. */
async function ask(key: string, { model = 'gpt-4o-mini', stream = false } = {}): Promise<string> {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const response = await client.chat.completions.create({ model, messages, stream }).asResponse()
  await response.text()
  expect(response.headers.get('x-feedback-url')).toBe('/api/trust/feedback')
  const id = response.headers.get('x-trace-id')!
  await vi.waitFor(async () =>
    expect((await gateway.api('GET', `/api/observe/traces/${id}`)).status).toBe(200),
  )
  return id
}

const say = (body: Record<string, unknown>, key = ada.key) =>
  gateway.api('POST', '/api/trust/feedback', body, key)
const scores = async (by = 'model') =>
  (await gateway.api('GET', `/api/modules/feedbackloop/scores?by=${by}`)).body.scores

describe.each([false, true])('stream: %s', (stream) => {
  test('feedback on an answer changes the scores of its model', async () => {
    const model = stream ? 'gpt-4.1' : 'gpt-4o'
    const first = await ask(ada.key, { model, stream })
    const { status, body } = await say({ trace_id: first, rating: 1, label: 'good', comment: 'Just right.' })
    expect([status, body]).toMatchObject([
      201,
      {
        trace_id: first,
        score: 1,
        scale: 'thumb',
        model,
        provider: 'openai',
        user_id: ada.userId,
        source: 'api',
      },
    ])
    await say({ request_id: await ask(ada.key, { model, stream }), rating: 2 })
    const found = (await scores()).find(({ name }: { name: string }) => name === `openai/${model}`)
    expect(found).toEqual({ name: `openai/${model}`, count: 2, mean: 0.625, low: 1, labels: { good: 1 } })
    const { body: trace } = await gateway.api('GET', `/api/observe/traces/${first}`)
    expect(trace.feedback).toEqual({ count: 1, avg_rating: 1 })
  })
})

test('thumbs, stars and scales of their own compare', async () => {
  const id = await ask(ada.key)
  const score = async (said: object) => (await say({ trace_id: id, ...said })).body.score
  expect(await score({ rating: 0 })).toBe(0.5)
  expect(await score({ rating: 3, scale: 'stars' })).toBe(0.5)
  expect(await score({ rating: 50, scale: { min: 0, max: 100 } })).toBe(0.5)
  expect(await score({ comment: 'No rating at all.' })).toBeNull()
})

test('a second opinion of the same user replaces the first', async () => {
  const id = await ask(ada.key)
  const first = await say({ trace_id: id, rating: -1 })
  const second = await say({ trace_id: id, rating: 1 })
  expect(second.body.id).toBe(first.body.id)
  await say({ trace_id: id, rating: -1 }, gateway.adminKey)
  const { body } = await gateway.api('GET', `/api/trust/feedback?trace_id=${id}`)
  expect(body.feedback.map(({ score }: { score: number }) => score).sort()).toEqual([0, 1])
})

test('what was said is shown, changed and taken back by who said it and by admins, and scores follow', async () => {
  const model = 'gpt-4.1-mini'
  const id = await ask(ada.key, { model })
  const said = await say({
    trace_id: id,
    rating: 5,
    label: 'good',
    comment: 'Fine.',
    tags: ['a'],
    end_user: 'eve',
  })
  const one = (method: string, key = ada.key, body?: object) =>
    gateway.api(method, `/api/trust/feedback/${said.body.id}`, body, key)
  const score = async () => (await scores()).find(({ name }: { name: string }) => name === `openai/${model}`)
  const shown = await one('GET')
  expect([shown.status, shown.body]).toEqual([200, said.body])
  for (const [method, body] of [['GET'], ['PUT', { rating: 1 }], ['DELETE']] as const)
    expect((await one(method, bob.key, body)).status).toBe(404)

  const changed = await one('PUT', ada.key, { rating: 2, label: null, comment: 'Not so fine.' })
  const { updated_at } = changed.body
  const { label: _, ...rest } = said.body
  const now = { ...rest, rating: 2, score: 0.25, label: null, comment: 'Not so fine.', updated_at }
  expect([changed.status, changed.body]).toEqual([200, now])
  expect(updated_at > said.body.updated_at).toBe(true)
  expect((await one('GET')).body).toEqual(now)
  expect(await score()).toMatchObject({ count: 1, mean: 0.25 })
  const wrong = async (body: object) => {
    const { status, body: answer } = await one('PUT', ada.key, body)
    return [status, answer.error.param]
  }
  expect(await wrong({ rating: 6 })).toEqual([400, 'rating'])
  expect(await wrong({ rating: null, comment: null })).toEqual([400, 'rating'])
  expect(await wrong({ trace_id: id })).toEqual([400, expect.stringContaining('trace_id')])
  expect((await one('PUT', ada.key, { rating: null })).body).toMatchObject({ score: null, scale: null })
  const byAdmin = await one('PUT', gateway.adminKey, { rating: -1, tags: null })
  expect(byAdmin.body).toMatchObject({ user_id: ada.userId, scale: 'thumb', score: 0, tags: [] })
  expect((await say({ trace_id: id, rating: 1 })).body.id).toBe(said.body.id)

  const gone = await one('DELETE')
  expect([gone.status, gone.body]).toEqual([200, { deleted: true, id: said.body.id }])
  expect(await score()).toBeUndefined()
  expect((await one('GET', gateway.adminKey)).status).toBe(404)
  expect((await one('DELETE', gateway.adminKey)).status).toBe(404)
})

test('changes of different fields at the same time are all kept', async () => {
  const { body } = await say({ trace_id: await ask(ada.key), rating: 1 })
  const at = `/api/trust/feedback/${body.id}`
  const changes = {
    label: 'wrong',
    comment: 'Not so.',
    correction: 'So.',
    end_user: 'Eve',
    tags: ['a'],
    rating: 0,
  }
  const answers = await Promise.all(
    Object.entries(changes).map(([field, value]) => gateway.api('PUT', at, { [field]: value }, ada.key)),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect((await gateway.api('GET', at, undefined, ada.key)).body).toMatchObject({ ...changes, score: 0.5 })
})

test('what a user said of one call is a page of its own, and nothing is behind it', async () => {
  const trace = await ask(ada.key)
  await say({ trace_id: trace, rating: 1 })
  const page = async (offset: number) =>
    (await gateway.api('GET', `/api/trust/feedback?trace_id=${trace}&offset=${offset}`, undefined, ada.key))
      .body
  expect(await page(0)).toMatchObject({ feedback: [{ trace_id: trace }], total: 1, has_more: false })
  expect(await page(1)).toMatchObject({ feedback: [], total: 1, has_more: false })
})

test('nobody judges the call of another user, and nobody sees what another one said', async () => {
  const id = await ask(ada.key)
  const refused = await say({ trace_id: id, rating: -1 }, bob.key)
  expect([refused.status, refused.body.error]).toMatchObject([403, { code: 'forbidden', param: 'trace_id' }])
  await say({ trace_id: id, rating: 1 })
  const { body } = await gateway.api('GET', `/api/trust/feedback?trace_id=${id}`, undefined, bob.key)
  expect(body).toMatchObject({ feedback: [], total: 0 })
  const others = await gateway.api('GET', `/api/trust/feedback?user_id=${ada.userId}`, undefined, bob.key)
  expect(others.status).toBe(403)
  const own = await gateway.api('GET', '/api/trust/feedback?limit=500', undefined, ada.key)
  expect(own.body.feedback.every(({ user_id }: { user_id: string }) => user_id === ada.userId)).toBe(true)
})

test.each([
  [{ rating: 1 }, 400, 'trace_id'],
  [{ trace_id: 'tr_nobody' }, 400, 'rating'],
  [{ trace_id: 'tr_nobody', rating: 1 }, 404, 'trace_id'],
  [{ trace_id: 'tr_a', request_id: 'tr_b', rating: 1 }, 400, 'request_id'],
  [{ trace_id: 'tr_nobody', rating: 9 }, 404, 'trace_id'],
])('%j is refused with %i', async (body, status, param) => {
  const refused = await say(body)
  expect([refused.status, refused.body.error.param]).toEqual([status, param])
})

test('a rating that is not on its scale is refused', async () => {
  const { status, body } = await say({ trace_id: await ask(ada.key), rating: 9 })
  expect([status, body.error.param]).toEqual([400, 'rating'])
})

test('calls that were rated low are listed for a review', async () => {
  const low = await ask(bob.key)
  const high = await ask(bob.key)
  await say({ trace_id: low, rating: 1, scale: 'stars', label: 'wrong' }, bob.key)
  await say({ trace_id: high, rating: 4 }, bob.key)
  const review = async () => {
    const { body } = await gateway.api('GET', '/api/modules/feedbackloop/review?limit=500')
    return body.calls.map(({ trace_id }: { trace_id: string }) => trace_id)
  }
  expect(await review()).toContain(low)
  expect(await review()).not.toContain(high)
  await gateway.module('feedbackloop', { config: { review_below: 0.75 } })
  expect(await review()).toContain(high)
  await gateway.module('feedbackloop', { config: null })
})

test('what a user said is erased with the data of that user', async () => {
  const eve = await gateway.signUp('eve')
  await say({ trace_id: await ask(eve.key), comment: 'a secret of mine' }, eve.key)
  await gateway.api('DELETE', `/api/auth/users/${eve.userId}/data`)
  const { body } = await gateway.api('GET', `/api/trust/feedback?user_id=${eve.userId}`)
  expect(body.total).toBe(0)
})

test('the feedback is there after a restart', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-feedback-'))
  const scored = async (during: (gateway: TestGateway) => Promise<void>) => {
    const gateway = await startGateway({ upstream, dataDir: path.join(folder, 'data') })
    try {
      await during(gateway)
      return (await gateway.api('GET', '/api/modules/feedbackloop/scores')).body.scores
    } finally {
      await gateway.close()
    }
  }
  const before = await scored(async (gateway) => {
    const { body } = await gateway.api('POST', '/api/observe/traces', {
      model: 'gpt-4o',
      request: { messages: [] },
    })
    await gateway.api('POST', '/api/trust/feedback', { trace_id: body.id, rating: 1 })
  })
  expect(before).toMatchObject([{ count: 1, mean: 1 }])
  expect(await scored(async () => {})).toEqual(before)
  await rm(folder, { recursive: true, force: true })
})

test('Anthropic’s client is told where to send feedback, too', async () => {
  const client = new Anthropic({ baseURL: gateway.url, apiKey: ada.key, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const { response } = await client.messages
    .create({ model: 'gpt-4o-mini', max_tokens: 9, messages })
    .withResponse()
  expect(response.headers.get('x-feedback-url')).toBe('/api/trust/feedback')
})
