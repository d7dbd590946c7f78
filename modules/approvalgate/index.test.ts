import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const model = 'gpt-4o-mini'
const at = '/api/modules/approvalgate'
const rule = { name: 'Payments', pattern: '(?i)wire transfer' }

let upstream: Upstream
let receiver: Receiver
let folder: string
let gateway: TestGateway

const start = () =>
  startGateway({
    upstream,
    dataDir: path.join(folder, 'data'),
    config: { egress: { allow: ['127.0.0.1'] } },
  })

beforeAll(async () => {
  upstream = await startUpstream()
  receiver = await startReceiver()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-approval-'))
  gateway = await start()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(() => upstream.reset())

const usual = { rules: [rule], wait_s: 60, expire_s: 3600, on_timeout: 'deny', max_pending: 1000 }

const configure = (config: Record<string, unknown>) =>
  gateway.module('approvalgate', { enabled: true, config: { ...usual, ...config } })

const client = (key = gateway.adminKey) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })

const says = (content: string) => ({ model, messages: [{ role: 'user' as const, content }] })
const pay = 'Prepare a wire transfer to Ada.'

const pending = async () => (await gateway.api('GET', `${at}/pending`)).body.pending
async function firstPending() {
  await expect.poll(async () => (await pending()).length, { timeout: 10_000 }).toBe(1)
  return (await pending())[0]
}

describe('a client that waits', () => {
  beforeAll(() => configure({ mode: 'wait' }))

  test.each([false, true])('gets the answer once an admin approves (streamed: %j)', async (stream) => {
    upstream.reply({ content: ['Do', 'ne.'] })
    const { key, userId } = await gateway.signUp(`approved-${stream}`)
    const asked = stream
      ? client(key).chat.completions.create({ ...says(pay), stream: true })
      : client(key).chat.completions.create(says(pay))
    const held = await firstPending()
    expect(held).toMatchObject({ mode: 'wait', rule: 'Payments', model, user_id: userId })
    const { body } = await gateway.api('GET', `${at}/pending/${held.id}`)
    expect(body.request).toEqual({ messages: [{ role: 'user', text: pay }], tools: [], is_whole: true })
    expect(upstream.requests).toHaveLength(0)
    const approved = await gateway.api('POST', `${at}/pending/${held.id}/approve`, { reason: 'Known payee' })
    expect(approved).toMatchObject({ status: 200, body: { approved: true, reason: 'Known payee' } })
    let text = ''
    const answer = await asked
    if ('choices' in answer) text = answer.choices[0]!.message.content!
    else for await (const { choices } of answer) text += choices[0]?.delta.content ?? ''
    expect(text).toBe('Done.')
    expect(await pending()).toEqual([])
    expect((await gateway.api('POST', `${at}/pending/${held.id}/approve`)).status).toBe(404)
  })

  test('gets the reason of the admin who denies', async () => {
    const asked = client().chat.completions.create(says(pay))
    const refused = expect(asked).rejects.toMatchObject({
      status: 403,
      code: 'forbidden',
      type: 'approval_denied',
      error: { message: 'Ask the treasurer.' },
    })
    const { id } = await firstPending()
    await gateway.api('POST', `${at}/pending/${id}/deny`, { reason: 'Ask the treasurer.' })
    await refused
    expect(upstream.requests).toHaveLength(0)
  })

  test('is refused when its time is up, or let through where that is set', async () => {
    await configure({ mode: 'wait', wait_s: 0.05 })
    await expect(client().chat.completions.create(says(pay))).rejects.toMatchObject({ status: 403 })
    await configure({ mode: 'wait', wait_s: 0.05, on_timeout: 'allow' })
    upstream.reply({ content: 'Done.' })
    const { choices } = await client().chat.completions.create(says(pay))
    expect(choices[0]!.message.content).toBe('Done.')
  })

  test('is forgotten when it leaves, and one more than may wait is refused', async () => {
    await configure({ mode: 'wait', max_pending: 1 })
    const leaving = new AbortController()
    const asked = client().chat.completions.create(says(pay), { signal: leaving.signal })
    const left = expect(asked).rejects.toThrow()
    await firstPending()
    await expect(client().chat.completions.create(says(pay))).rejects.toMatchObject({ status: 429 })
    leaving.abort()
    await left
    await expect.poll(pending, { timeout: 10_000 }).toEqual([])
  })
})

test('a rule holds calls for which everything that it names is so', async () => {
  const tool = { type: 'function', function: { name: 'delete_user', parameters: { type: 'object' } } }
  const send = async (body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.adminKey}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ ...says('Hello'), ...body }),
    })
    await response.text()
    return response.status
  }
  upstream.reply({ content: 'Hi', times: 100 })
  const expectHeld = async (one: object, held: Parameters<typeof send>, passes: Parameters<typeof send>) => {
    await configure({ mode: 'wait', wait_s: 0.01, rules: [{ name: 'One', ...one }] })
    expect([one, await send(...held), await send(...passes)]).toEqual([one, 403, 200])
  }
  await expectHeld({ models: ['gpt-4o'] }, [{ model: 'gpt-4o' }], [{}])
  await expectHeld({ tools: ['delete_*'] }, [{ tools: [tool] }], [{}])
  await expectHeld({ tags: { team: 'ops' } }, [{}, { 'x-service-tags': 'team=ops' }], [{}])
  await expectHeld(
    { tags: { team: 'ops' }, models: ['gpt-4o'] },
    [{ model: 'gpt-4o' }, { 'x-service-tags': 'team=ops' }],
    [{}, { 'x-service-tags': 'team=ops' }],
  )
  await expectHeld({ min_cost_usd: 0.01 }, [{ model: 'gpt-4o', max_tokens: 16_000 }], [{ max_tokens: 10 }])
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/approvalgate', {
    config: { rules: [{ name: 'Everything' }] },
  })
  expect([status, body.error.message]).toEqual([400, expect.stringContaining('needs a condition')])
})

test('what the gateway asks by itself waits also where clients do not', async () => {
  await configure({ mode: 'async' })
  const { key, userId } = await gateway.signUp('runs')
  const { messages } = says(pay)
  const step = { id: 'pay', type: 'llm', model, prompt: pay }
  await gateway.api('POST', '/api/forge/workflows', { slug: 'pay', name: 'Pay', steps: [step] }, key)
  const ways = [
    ['/api/forge/workflows/pay/run', { wait_ms: 20_000 }, { status: 'completed', output: 'Done.' }],
    ['/api/forge/batch', { model, input: [{ messages }], wait_ms: 20_000 }, { counts: { succeeded: 1 } }],
    ['/api/studio/playground', { model, prompt: pay }, { content: 'Done.' }],
  ] as const
  for (const [to, body, result] of ways) {
    upstream.reset()
    upstream.reply({ content: 'Done.' })
    const answer = gateway.api('POST', to, body, key)
    const held = await firstPending()
    expect(held).toMatchObject({ mode: 'wait', user_id: userId })
    expect(upstream.requests).toHaveLength(0)
    await gateway.api('POST', `${at}/pending/${held.id}/approve`)
    const { body: shown } = await answer
    expect([to, shown]).toMatchObject([to, result])
    expect(upstream.requests).toHaveLength(1)
    expect(await pending()).toEqual([])
  }
})

describe('a client that does not wait', () => {
  beforeAll(() => configure({ mode: 'async' }))

  /** Sends a call that is held, and returns the id that it is answered with. */
  async function defer(key = gateway.adminKey, body: object = says(pay)): Promise<string> {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const { error } = (await response.json()) as { error: { type: string; details: { id: string } } }
    expect([response.status, error.type]).toEqual([202, 'approval_pending'])
    expect(response.headers.get('x-approval-id')).toBe(error.details.id)
    return error.details.id
  }
  const result = async (id: string, key = gateway.adminKey) =>
    (await gateway.api('GET', `${at}/requests/${id}`, undefined, key)).body

  test('finds the answer under its id, and others do not', async () => {
    const hook = { name: 'Approvals', url: `${receiver.url}/approvals`, events: ['approval.requested'] }
    expect((await gateway.api('POST', '/api/webhooks', hook)).status).toBe(201)
    upstream.reply({ content: 'Done.' })
    const { key, userId } = await gateway.signUp('deferred')
    const other = await gateway.signUp('another')
    const id = await defer(key, { ...says(pay), stream: true })
    expect(await result(id, key)).toMatchObject({ status: 'pending', response: null })
    expect((await gateway.api('GET', `${at}/requests/${id}`, undefined, other.key)).status).toBe(404)
    expect((await gateway.api('POST', `${at}/pending/${id}/approve`, {}, key)).status).toBe(403)
    const shown = await gateway.api('GET', `${at}/pending/${id}`)
    expect(shown.body).toMatchObject({
      mode: 'async',
      user_id: userId,
      request: { messages: [{ text: pay }] },
    })
    await expect.poll(() => receiver.on('/approvals').length, { timeout: 10_000 }).toBe(1)
    expect(receiver.on('/approvals')[0]!.body).toContain(id)
    expect((await gateway.api('POST', `${at}/pending/${id}/approve`)).status).toBe(200)
    await expect.poll(async () => (await result(id, key)).status, { timeout: 10_000 }).toBe('done')
    const { response, trace_id } = await result(id, key)
    expect(response.choices[0].message.content).toBe('Done.')
    const trace = async () => gateway.api('GET', `/api/observe/traces/${trace_id}`, undefined, key)
    await expect.poll(async () => (await trace()).status, { timeout: 10_000 }).toBe(200)
    expect((await gateway.api('POST', `${at}/pending/${id}/deny`)).status).toBe(409)
    expect(upstream.requests).toHaveLength(1)
  })

  test('is made or not as the first of two admins decides', async () => {
    upstream.reply({ content: 'Done.', times: 5 })
    for (let round = 0; round < 5; round += 1) {
      const id = await defer()
      const [approved, denied] = await Promise.all(
        ['approve', 'deny'].map((how) => gateway.api('POST', `${at}/pending/${id}/${how}`)),
      )
      expect([approved!.status, denied!.status].sort()).toEqual([200, 409])
      const ending = approved!.status === 200 ? 'done' : 'denied'
      await expect.poll(async () => (await result(id)).status, { timeout: 10_000 }).toBe(ending)
      expect((await result(id)).response === null).toBe(ending === 'denied')
    }
  })

  test('learns of a denial, and of an error of the provider', async () => {
    const [denied, failing] = [await defer(), await defer()]
    await gateway.api('POST', `${at}/pending/${denied}/deny`, { reason: 'No.' })
    expect(await result(denied)).toMatchObject({ status: 'denied', reason: 'No.', response: null })
    upstream.reply({ status: 400, error: { message: 'secret words' } })
    await gateway.api('POST', `${at}/pending/${failing}/approve`)
    await expect.poll(async () => (await result(failing)).status, { timeout: 10_000 }).toBe('failed')
    const { error } = await result(failing)
    expect(error.code).toBe('bad_request')
    expect(JSON.stringify(error)).not.toContain('secret words')
  })

  test('learns that an admin has cancelled its job', async () => {
    const id = await defer()
    await gateway.api('POST', `/api/jobs/${encodeURIComponent(`approvalgate.deferred:${id}`)}/cancel`)
    await expect.poll(() => result(id)).toMatchObject({ status: 'failed', error: { code: 'cancelled' } })
    expect(await pending()).toEqual([])
  })

  test('loses nothing when the gateway starts again, and an erased person leaves nothing', async () => {
    const { key, userId } = await gateway.signUp('restarted')
    const [waits, decided, erased] = [await defer(key), await defer(key), await defer(key)]
    await gateway.close()
    gateway = await start()
    expect((await pending()).map(({ id }: { id: string }) => id).sort()).toEqual(
      [waits, decided, erased].sort(),
    )
    upstream.reply({ content: 'After the start.', times: 2 })
    await gateway.api('POST', `${at}/pending/${decided}/approve`)
    await expect.poll(async () => (await result(decided, key)).status, { timeout: 10_000 }).toBe('done')
    const erasure = await gateway.api('POST', '/api/modules/retentionwipe/erase', { user_id: userId })
    expect(erasure.status).toBeLessThan(300)
    await expect.poll(pending, { timeout: 10_000 }).toEqual([])
    expect((await gateway.api('GET', `${at}/requests/${waits}`)).status).toBe(404)
    expect((await gateway.api('GET', `/api/jobs/${waits}`)).status).toBe(404)
  })

  test('is decided by the time', async () => {
    await configure({ mode: 'async', expire_s: 0.05 })
    const id = await defer()
    await expect.poll(async () => (await result(id)).status, { timeout: 10_000 }).toBe('denied')
    await configure({ mode: 'async', expire_s: 0.05, on_timeout: 'allow' })
    upstream.reply({ content: 'By itself.' })
    const allowed = await defer()
    await expect.poll(async () => (await result(allowed)).status, { timeout: 10_000 }).toBe('done')
  })
})
