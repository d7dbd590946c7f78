import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = await gateway.signUp('replay-ada')
  bob = await gateway.signUp('replay-bob')
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const api = (method: string, at: string, body?: unknown, key = ada.key) =>
  gateway.api(method, `/api/replay${at}`, body, key)

/** Makes a call, and returns the id of its trace. */
async function ask(fields: object, key = ada.key): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-project': 'lab' },
    body: JSON.stringify({ model: 'gpt-4o-mini', ...fields }),
  })
  await response.text()
  const id = response.headers.get('x-trace-id')!
  await expect.poll(async () => (await gateway.api('GET', `/api/observe/traces/${id}`)).status).toBe(200)
  return id
}

const saying = (content: unknown) => ({ messages: [{ role: 'user', content }] })

const replay = (trace_id: string, overrides?: object, target_model = 'gpt-4o', key?: string) =>
  api('POST', '', { trace_id, target_model, ...(overrides && { overrides }) }, key)

describe('a run', () => {
  test('asks another model what the call asked, and is kept with both answers', async () => {
    upstream.reply({ content: 'The sky is blue.' })
    const trace = await ask({ ...saying('What colour is the sky?'), temperature: 0 })
    upstream.reply({ content: 'The sky is grey.' })
    const { status, body } = await replay(trace)
    expect([status, body.error]).toEqual([201, null])
    expect(body).toMatchObject({
      id: expect.stringMatching(/^rpl_/),
      user_id: ada.userId,
      status: 'success',
      source: { trace_id: trace, model: 'gpt-4o-mini', provider: 'openai', response: 'The sky is blue.' },
      target: { model: 'gpt-4o', provider: 'openai', response: 'The sky is grey.' },
      request: { model: 'gpt-4o', temperature: 0 },
      overrides: {},
    })
    expect(body.quality.similarity).toBeGreaterThan(0.3)
    expect(body.quality.similarity).toBeLessThan(1)
    expect(body.delta.cost_usd).toBeCloseTo(body.target.cost_usd - body.source.cost_usd, 12)
    expect(body.delta.cost_usd).toBeGreaterThan(0)
    const { body: made } = await gateway.api('GET', `/api/observe/traces/${body.target.trace_id}`)
    expect(made).toMatchObject({ source: 'replay', parent_id: trace, user_id: ada.userId, project: 'lab' })
    const { body: kept } = await api('GET', `/runs/${body.id}`)
    expect(kept).toMatchObject({
      source: body.source,
      target: body.target,
      request: { messages: [{ content: 'What colour is the sky?' }], temperature: 0 },
    })
  })

  test('keeps tools, images and the stream of the call, and its parameters give way to overrides', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const image = {
      type: 'image_url',
      image_url: {
        url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
    }
    upstream.reply({ content: 'It is red.' })
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Which colour?' }, image] },
    ]
    const trace = await ask({ messages, tools, max_tokens: 50, stream: true })
    upstream.reply({ content: 'Red.' })
    const overrides = { params: { max_completion_tokens: 9, seed: 7 }, system: 'Answer with one word.' }
    const { body } = await replay(trace, overrides)
    expect(body).toMatchObject({ status: 'success', target: { response: 'Red.' }, overrides })
    expect(body.target.ttft_ms).toBeGreaterThan(0)
    const sent = upstream.last().body as Record<string, unknown>
    expect(sent).toMatchObject({
      stream: true,
      seed: 7,
      tools,
      messages: [{ role: 'system', content: 'Answer with one word.' }, { content: [{}, image] }],
    })
    expect(sent).not.toHaveProperty('max_tokens')
  })

  test('goes past the cache and through the guards', async () => {
    await gateway.module('cachelayer', { enabled: true })
    upstream.reply({ content: 'first' })
    const trace = await ask(saying('Cached?'))
    upstream.reply({ content: 'second' })
    expect((await replay(trace, undefined, 'gpt-4o-mini')).body.target.response).toBe('second')
    await gateway.module('cachelayer', { enabled: false })
    const rules = [{ field: 'user', pattern: 'Cached' }]
    const policy = await gateway.api('POST', '/api/trust/policies', { name: 'no', action: 'block', rules })
    const { status, body } = await replay(trace)
    expect([status, body.status, body.error.code]).toEqual([201, 'error', 'bad_request'])
    expect(body.target).toMatchObject({ response: null })
    expect(upstream.requests).toHaveLength(2)
    await gateway.api('DELETE', `/api/trust/policies/${policy.body.id}`)
  })

  test('asks with another version of the template that the call used', async () => {
    const template = { slug: 'greeting', content: 'Greet {{name}}.' }
    await gateway.api('POST', '/api/studio/templates', template, ada.key)
    const version = { content: 'Greet {{name}} in Latin.' }
    await gateway.api('POST', '/api/studio/templates/greeting/versions', version, ada.key)
    const used = { slug: 'greeting', version: 1, variables: { name: 'Ada' } }
    const trace = await ask({ ...saying('Now'), template: used })
    const { body } = await replay(trace, { template_version: 2, template_variables: { name: 'Bob' } })
    expect(body.status).toBe('success')
    expect(upstream.last().body).toMatchObject({
      messages: [{ content: 'Greet Bob in Latin.' }, { content: 'Now' }],
    })
    const missing = await replay(trace, { template_version: 2 })
    expect([missing.status, missing.body.error.message]).toEqual([400, expect.stringContaining('name')])
  })

  test('that the provider fails says so without its words', async () => {
    const trace = await ask(saying('Fail then'))
    upstream.reply({ status: 400, error: { message: 'words of the prompt' } })
    const { body } = await replay(trace)
    expect(body).toMatchObject({ status: 'error', error: { code: 'bad_request' } })
    expect(JSON.stringify(body.error)).not.toContain('words of')
  })

  test('of a client that leaves ends at the provider, too', async () => {
    const trace = await ask(saying('Leave'))
    upstream.reply({ hang: true })
    const leaving = new AbortController()
    const asked = fetch(`${gateway.url}/api/replay`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ trace_id: trace, target_model: 'gpt-4o-left' }),
      signal: leaving.signal,
    }).catch(() => {})
    await upstream.received(2)
    leaving.abort()
    await asked
    const runs = async () => (await api('GET', '/runs?model=gpt-4o-left')).body.runs
    await expect.poll(async () => (await runs())[0].status, { timeout: 10_000 }).toBe('error')
  })
})

describe('a batch', () => {
  test('has the results of its models in their order, and errors apart', async () => {
    upstream.reply({ content: 'one' })
    const trace = await ask(saying('Several'))
    upstream.reply({ model: 'gpt-4.1' }, { status: 400, error: { message: 'no' } })
    const target_models = ['gpt-4o', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4.1-nano']
    const { status, body } = await api('POST', '/batch', { trace_id: trace, target_models })
    expect(status).toBe(201)
    expect(body).toMatchObject({ trace_id: trace, source: { trace_id: trace, response: 'one' } })
    expect(body.results.map(({ target }: { target: { model: string } }) => target.model)).toEqual([
      'gpt-4o',
      'gpt-4.1-mini',
      'gpt-4.1-nano',
    ])
    expect(body.errors).toMatchObject([{ target_model: 'gpt-4.1', code: 'bad_request' }])
    const [first] = body.results
    expect(first).toMatchObject({ batch_id: body.batch_id, cost_delta: first.delta.cost_usd })
  })

  test.each([[['a', 'b', 'c', 'd', 'e', 'f']], [[]], [['a', 'a']]])(
    'of the models %j is refused',
    async (target_models) => {
      const { status, body } = await api('POST', '/batch', { trace_id: 'tr_a', target_models })
      expect([status, body.error.param]).toEqual([400, 'target_models'])
    },
  )
})

describe('what cannot be replayed', () => {
  test('is a call of somebody else, and one that is not there', async () => {
    const trace = await ask(saying('Mine'))
    expect((await replay(trace, undefined, 'gpt-4o', bob.key)).status).toBe(404)
    expect((await replay('tr_none')).status).toBe(404)
    expect((await api('POST', `/${trace}`, {}, bob.key)).status).toBe(404)
    const { status, body } = await replay(trace, undefined, 'gpt-4o', gateway.adminKey)
    expect([status, body.user_id]).toEqual([201, null])
    expect((await api('GET', `/runs/${body.id}`)).status).toBe(404)
  })

  test('is one whose body is not stored, or not whole', async () => {
    const { body: manual } = await gateway.api('POST', '/api/observe/traces', {
      model: 'gpt-4o-mini',
      usage: { input: 1, output: 1 },
    })
    const { status, body } = await replay(manual.id, undefined, 'gpt-4o', gateway.adminKey)
    expect([status, body.error.type, body.error.param]).toEqual([422, 'not_replayable', 'trace_id'])
    expect((await replay(await ask(saying('x'.repeat(1_100_000))))).status).toBe(422)
  })

  test.each<[object, string]>([
    [{ trace_id: 'tr_a' }, 'target_model'],
    [{ trace_id: 'tr_a', target_model: '' }, 'target_model'],
    [{ trace_id: 'tr_a', target_model: 'm', judge: true }, 'judge'],
    [
      { trace_id: 'tr_a', target_model: 'm', overrides: { params: { temperature: 'hot' } } },
      'overrides.params.temperature',
    ],
    [
      { trace_id: 'tr_a', target_model: 'm', overrides: { params: { model: 'n' } } },
      'overrides.params.model',
    ],
  ])('%j is refused', async (question, param) => {
    const { status, body } = await api('POST', '', question)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('is a call without a template in another version of it', async () => {
    const { status, body } = await replay(await ask(saying('Plain')), { template_version: 2 })
    expect([status, body.error.param]).toEqual([400, 'overrides.template_version'])
  })
})

describe('once more through the chain of now', () => {
  test('a call says which modules met it otherwise', async () => {
    upstream.reply({ content: 'then' })
    const trace = await ask(saying('Chain'))
    await gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 77 } })
    upstream.reply({ content: 'now' })
    const { status, body } = await api('POST', `/${trace}`)
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'success', original_id: trace, response: 'now', error: null })
    expect(body.replay_id).toMatch(/^rpl_/)
    const { generation, modules } = body.chain_diff
    expect(generation.replay).toBeGreaterThan(generation.original)
    expect(modules).toContainEqual({
      module: 'outputcap',
      original: null,
      replay: expect.objectContaining({ outcome: 'ran', mode: 'enforce' }),
    })
    const { body: refused } = await api('POST', `/${trace}`, { chain: 'original' })
    expect(refused.error).toMatchObject({ param: 'chain', message: expect.stringContaining('current') })
    const chain = `generation:${generation.replay}`
    expect((await api('POST', `/${trace}`, { chain })).body.status).toBe('success')
    await gateway.module('outputcap', { enabled: false })
  })

  test('a run is none, and its 404 says where runs are', async () => {
    const { status, body } = await api('POST', '/rpl_a', {})
    expect([status, body.error.message]).toEqual([404, expect.stringContaining('/api/replay/runs/rpl_a')])
  })
})

describe('the runs', () => {
  test('are listed by model, newest first, to their owner and to admins', async () => {
    const trace = await ask(saying('List'), bob.key)
    for (const model of ['gpt-4o', 'gpt-4.1', 'gpt-4o']) await replay(trace, undefined, model, bob.key)
    const { body } = await api('GET', '/runs?model=gpt-4o', undefined, bob.key)
    expect(body).toMatchObject({ total: 2, has_more: false, runs: [{ user_id: bob.userId }, {}] })
    expect(body.runs[0].id > body.runs[1].id).toBe(true)
    expect(JSON.stringify(body)).not.toContain('List')
    expect((await api('GET', '/runs', undefined, bob.key)).body.total).toBe(3)
    const all = (await api('GET', '/runs?limit=1', undefined, gateway.adminKey)).body
    expect(all.total).toBeGreaterThan(3)
    const [{ id }] = body.runs
    expect((await api('DELETE', `/runs/${id}`)).status).toBe(404)
    expect((await api('DELETE', `/runs/${id}`, undefined, bob.key)).body).toEqual({ deleted: true, id })
    expect((await api('GET', `/runs/${id}`, undefined, bob.key)).status).toBe(404)
  })

  test('of admins are for all where they say so, and only theirs', async () => {
    const trace = await ask(saying('For all'), gateway.adminKey)
    const question = { trace_id: trace, target_model: 'gpt-4o', visibility: 'shared' }
    const { body: run } = await api('POST', '', question, gateway.adminKey)
    expect(run.visibility).toBe('shared')
    expect((await api('GET', `/runs/${run.id}`)).body.id).toBe(run.id)
    const list = (await api('GET', '/runs?visibility=shared&model=gpt-4o')).body
    expect(list.runs.map(({ id }: { id: string }) => id)).toEqual([run.id])
    expect((await api('DELETE', `/runs/${run.id}`)).status).toBe(404)
    const passedOn = await gateway.api('POST', '/api/replayshare/share', { replay_id: run.id }, ada.key)
    expect(passedOn.status).toBe(404)
    const own = { ...question, trace_id: await ask(saying('Own')) }
    const { status, body } = await api('POST', '', own)
    expect([status, body.error.param]).toEqual([403, 'visibility'])
  })

  test('that are under way are deleted by force only, which ends their calls', async () => {
    const trace = await ask(saying('Delete while it runs'))
    upstream.reply({ hang: true })
    const asked = replay(trace, undefined, 'gpt-4o-deleted')
    await upstream.received(2)
    const [{ id }] = (await api('GET', '/runs?model=gpt-4o-deleted')).body.runs
    expect((await api('DELETE', `/runs/${id}`)).status).toBe(409)
    expect((await api('DELETE', `/runs/${id}?force=true`)).status).toBe(200)
    expect((await asked).body.status).toBe('error')
    expect((await api('GET', `/runs/${id}`)).status).toBe(404)
  })

  test('are compared side by side', async () => {
    upstream.reply({ content: 'The sky is blue.', usage: { prompt_tokens: 10, completion_tokens: 5 } })
    const trace = await ask(saying('Compare'))
    upstream.reply({ content: 'The sky is grey.', usage: { prompt_tokens: 10, completion_tokens: 5 } })
    const { body: run } = await replay(trace)
    const { body } = await api('GET', `/compare/${run.id}`)
    expect(body).toMatchObject({
      id: run.id,
      comparison: { left: { response: 'The sky is blue.' }, right: { response: 'The sky is grey.' } },
      winners: { cost: 'left', quality: null },
      delta: { cost_usd: run.delta.cost_usd, tokens: 0, tokens_pct: 0 },
      diff: [
        { kind: 'same', text: 'The sky is ' },
        { kind: 'removed', text: 'blue' },
        { kind: 'added', text: 'grey' },
        { kind: 'same', text: '.' },
      ],
    })
    expect((await api('GET', `/compare/${run.id}`, undefined, bob.key)).status).toBe(404)
  })

  test('are summed up for their owner', async () => {
    const { body } = await api('GET', '/stats', undefined, bob.key)
    expect(body).toMatchObject({ total_runs: 2, successful: 2, errors: 0, replayable_traces: 4 })
    expect(body.model_leaderboard.map(({ model }: { model: string }) => model).sort()).toEqual([
      'gpt-4.1',
      'gpt-4o',
    ])
    expect(body.available_providers).toContain('openai')
  })

  test('go when the data of their user is erased', async () => {
    const gone = await gateway.signUp('replay-gone')
    const trace = await ask(saying('Erase me'), gone.key)
    const { body } = await replay(trace, undefined, 'gpt-4o', gone.key)
    const { body: byAdmin } = await replay(trace, undefined, 'gpt-4o', gateway.adminKey)
    expect((await gateway.api('DELETE', `/api/auth/users/${gone.userId}`)).status).toBe(200)
    const status = async (id: string) => (await api('GET', `/runs/${id}`, undefined, gateway.adminKey)).status
    await expect.poll(() => status(body.id)).toBe(404)
    expect(await status(byAdmin.id)).toBe(404)
  })
})
