import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  user = await gateway.signUp('replays')
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const path = '/api/trust/replays'

async function ask(
  content: string,
  { key = user.key, ...more }: { key?: string; [field: string]: unknown } = {},
) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-project': 'lab' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...more }),
  })
  await response.text()
  const id = response.headers.get('x-trace-id')!
  await expect.poll(async () => (await gateway.api('GET', `/api/observe/traces/${id}`)).status).toBe(200)
  return id
}

const replay = (original_trace_id: string, more: object = {}, key = user.key) =>
  gateway.api('POST', path, { original_trace_id, ...more }, key)

async function ended(id: string, key = user.key) {
  const shown = async () => (await gateway.api('GET', `${path}/${id}`, undefined, key)).body
  await expect.poll(async () => (await shown()).status, { timeout: 20_000 }).toBeOneOf(['done', 'failed'])
  return shown()
}

describe('a replay', () => {
  test('makes the call again as its caller, and compares the answers', async () => {
    upstream.reply({ content: 'The sky is blue.' })
    const original = await ask('What colour is the sky?', { temperature: 0 })
    upstream.reply({ content: 'The sky is grey.' })
    const { status, body } = await replay(original, { purpose: 'a check' })
    expect([status, body.status, body.match_method]).toEqual([202, 'queued', 'semantic'])
    const done = await ended(body.id)
    expect(done).toMatchObject({
      id: expect.stringMatching(/^rep_/),
      original_trace_id: original,
      status: 'done',
      purpose: 'a check',
      user_id: user.userId,
      model: 'gpt-4o-mini',
      differences: [{ path: 'choices[0].content' }],
      error: null,
    })
    expect(done.match_score).toBeGreaterThan(0.3)
    expect(done.match_score).toBeLessThan(1)
    expect(upstream.last().body).toMatchObject({
      temperature: 0,
      messages: [{ content: 'What colour is the sky?' }],
    })
    const trace = async () => (await gateway.api('GET', `/api/observe/traces/${done.replay_run_id}`)).body
    await expect.poll(async () => (await trace()).id).toBe(done.replay_run_id)
    expect(await trace()).toMatchObject({
      source: 'replay',
      parent_id: original,
      user_id: user.userId,
      project: 'lab',
    })
    expect((await ended(body.id)).replay_output).toBe('The sky is grey.')
  })

  test('asks another model where one is named, and compares by the method asked for', async () => {
    upstream.reply({ content: '{"a":1,"b":2}' })
    const original = await ask('As JSON')
    upstream.reply({ content: '{"b": 2, "a": 1}' })
    const { body } = await replay(original, { provider: 'openai', model: 'gpt-4o' })
    expect(await ended(body.id)).toMatchObject({ status: 'done', match_method: 'json', match_score: 1 })
    expect(upstream.last().body).toMatchObject({ model: 'gpt-4o' })
    upstream.reply({ content: '{"b": 2, "a": 1}' })
    const exact = await replay(original, { match_method: 'exact' })
    expect(await ended(exact.body.id)).toMatchObject({ match_method: 'exact', match_score: 0 })
  })

  test('of a stream repeats it without one, past the cache and through the guards', async () => {
    await gateway.module('cachelayer', { enabled: true })
    upstream.reply({ content: 'first' })
    const original = await ask('Cached?', { stream: true })
    upstream.reply({ content: 'second' })
    const { body } = await replay(original)
    expect(await ended(body.id)).toMatchObject({ status: 'done', match_score: 0 })
    expect(upstream.requests).toHaveLength(2)
    await gateway.module('cachelayer', { enabled: false })
    const rules = [{ field: 'user', pattern: 'Cached' }]
    const policy = await gateway.api('POST', '/api/trust/policies', { name: 'no', action: 'block', rules })
    const refused = await replay(original)
    expect(await ended(refused.body.id)).toMatchObject({
      status: 'failed',
      error: { code: 'bad_request' },
      match_score: null,
      replay_output: null,
    })
    expect(upstream.requests).toHaveLength(2)
    await gateway.api('DELETE', `/api/trust/policies/${policy.body.id}`)
  })

  test('is deleted by its caller or an admin, and what goes on only by force, which closes the connection', async () => {
    const remove = (id: string, key = user.key, query = '') =>
      gateway.api('DELETE', `${path}/${id}${query}`, undefined, key)
    const original = await ask('To delete')
    const { body: over } = await replay(original)
    const { replay_run_id: run } = await ended(over.id)
    const other = await gateway.signUp('replays-deleter')
    expect((await remove(over.id, other.key)).status).toBe(404)
    expect((await remove(over.id)).body).toEqual({ deleted: true, id: over.id })
    expect((await remove(over.id, gateway.adminKey)).status).toBe(404)
    await expect.poll(async () => (await gateway.api('GET', `/api/observe/traces/${run}`)).status).toBe(200)

    upstream.reset()
    upstream.reply({ content: 'late', delayMs: 20_000 })
    const { body: slow } = await replay(original)
    await expect.poll(() => upstream.requests.length).toBe(1)
    const refused = await remove(slow.id)
    expect([refused.status, refused.body.error.param]).toEqual([409, 'force'])
    expect((await remove(slow.id, user.key, '?force=true')).status).toBe(200)
    expect((await gateway.api('GET', `${path}/${slow.id}`)).status).toBe(404)
    expect((await gateway.api('GET', `/api/jobs/${slow.id}`)).status).toBe(404)
  })

  test('that the provider fails says so without its words', async () => {
    const original = await ask('Fail then')
    upstream.reply({ status: 400, error: { message: 'words of the prompt' } })
    const { body } = await replay(original)
    const failed = await ended(body.id)
    expect(failed).toMatchObject({ status: 'failed', error: { code: 'bad_request' } })
    expect(JSON.stringify(failed)).not.toContain('words of')
  })
})

describe('what cannot be replayed', () => {
  test('is a call of somebody else, and one that is not there', async () => {
    const original = await ask('Mine')
    const other = await gateway.signUp('replays-other')
    expect((await replay(original, {}, other.key)).status).toBe(404)
    expect((await replay('tr_none')).status).toBe(404)
    const { body } = await replay(original, {}, gateway.adminKey)
    expect((await gateway.api('GET', `${path}/${body.id}`, undefined, user.key)).status).toBe(404)
    await ended(body.id, gateway.adminKey)
    const { body: own } = await gateway.api('GET', path, undefined, other.key)
    expect(own).toMatchObject({ total: 0, replays: [] })
  })

  test('is one whose body is not whole', async () => {
    const { body: manual } = await gateway.api('POST', '/api/observe/traces', {
      model: 'gpt-4o-mini',
      usage: { input: 1, output: 1 },
    })
    const { status, body } = await replay(manual.id, {}, gateway.adminKey)
    expect([status, body.error.type, body.error.param]).toEqual([422, 'not_replayable', 'original_trace_id'])
    const long = await ask('x'.repeat(2_000_000))
    expect((await replay(long)).status).toBe(422)
  })

  test.each<[object, string]>([
    [{}, 'original_trace_id'],
    [{ original_trace_id: 'tr_a', original_request_id: 'tr_b' }, 'original_request_id'],
    [{ original_trace_id: 'tr_a', judge: true }, 'judge'],
  ])('%j is refused', async (question, param) => {
    const { status, body } = await gateway.api('POST', path, question, user.key)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('by a method that is not there, or does not fit, is refused', async () => {
    const original = await ask('Hello')
    for (const match_method of ['judge', 'json']) {
      const { status, body } = await replay(original, { match_method })
      expect([status, body.error.param]).toEqual([400, 'match_method'])
    }
  })
})

test('replays need the tier individual where plans are enforced, and those there are stay to be seen', async () => {
  const planned = await startGateway({ upstream, config: { plans: { enforce: true } } })
  onTestFinished(() => planned.close())
  const { key } = await planned.signUp('ada')
  const { status, body } = await planned.api('POST', path, { original_trace_id: 'tr_a' }, key)
  expect([status, body.error.message]).toEqual([403, expect.stringContaining('individual')])
  expect((await planned.api('POST', path, { original_trace_id: 'tr_a' })).status).toBe(404)
  expect((await planned.api('GET', path, undefined, key)).status).toBe(200)
})

test('a replay whose job an admin cancels has failed, and says why', async () => {
  upstream.reply({ content: 'Blue.' })
  const original = await ask('What colour?')
  await gateway.api('POST', '/api/jobs/pause', { kind: 'trust.replay' })
  const { body } = await replay(original)
  await gateway.api('POST', `/api/jobs/${encodeURIComponent(`trust.replay:${body.id}`)}/cancel`)
  expect(await ended(body.id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
  await gateway.api('POST', '/api/jobs/resume', { kind: 'trust.replay' })
})

test('the data of a user goes when it is erased', async () => {
  const { userId, key } = await gateway.signUp('replays-erased')
  const original = await ask('Erase me', { key })
  const { body } = await replay(original, {}, key)
  await ended(body.id, key)
  expect((await gateway.api('DELETE', `/api/auth/users/${userId}`)).status).toBe(200)
  await expect.poll(async () => (await gateway.api('GET', `${path}/${body.id}`)).status).toBe(404)
})

test('the status of the area counts them', async () => {
  const { body } = await gateway.api('GET', '/api/trust/status')
  expect(body).toMatchObject({
    status: 'healthy',
    policies: { total: 0, enforced: 0, shadow: 0, off: 0 },
    replays: { queued: 0, running: 0, done: expect.any(Number), failed: expect.any(Number) },
  })
  expect(body.replays.done).toBeGreaterThan(2)
  expect(body.ledger.entries).toBeGreaterThan(0)
  expect(body.ledger.head_hash).toMatch(/^[0-9a-f]{64}$/)
  expect((await gateway.api('GET', '/api/trust/status', undefined, user.key)).status).toBe(403)
})
