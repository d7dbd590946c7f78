import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ask } from '../../test/ask.ts'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const served = ['llama3.2:latest', 'qwen/qwen3-8b', 'shared-model', 'early-model']

let local: Upstream
let cloud: Upstream
let bystander: Upstream
let gateway: TestGateway

beforeAll(async () => {
  local = await startUpstream({ models: served, apiKey: [] })
  cloud = await startUpstream()
  bystander = await startUpstream({ apiKey: [] })
  const far = { type: 'openai', base_url: cloud.baseUrl(), api_key: 'sk-test' }
  // By itself routing goes by this order.
  const providers = {
    early: { ...far, models: ['early-*'] },
    ollama: { base_url: local.baseUrl() },
    cloud: { ...far, models: ['gpt-*', 'shared-*'] },
    vllm: { base_url: bystander.baseUrl() },
  }
  gateway = await startGateway({ config: { providers } })
  await bareChain(gateway)
  await set({})
})

beforeEach(async () => {
  await sync()
  for (const upstream of [local, cloud, bystander]) upstream.reset()
})

afterAll(async () => {
  await gateway.close()
  for (const upstream of [local, cloud, bystander]) await upstream.close()
})

const set = (config: object) =>
  gateway.module('localsync', {
    enabled: true,
    config: { providers: ['ollama'], interval_s: 3600, ...config },
  })

const sync = () => gateway.api('POST', '/api/modules/localsync/endpoints/sync', {})

const say = (model: string, more: object = {}, headers: Record<string, string> = {}) =>
  ask(gateway, { headers, body: { model, messages: [{ role: 'user', content: 'hello' }], ...more } })

const calls = ({ requests }: Upstream) => requests.filter(({ method }) => method === 'POST')
const wentTo = () => [calls(local).length, calls(cloud).length]

/** Stops the local server while it runs, and starts it again at its port. */
async function whileDown(run: () => Promise<void>, models: readonly string[] = served): Promise<void> {
  const { port } = local
  await local.close()
  try {
    await run()
  } finally {
    local = await startUpstream({ models, apiKey: [], port })
  }
}

describe.each([
  ['plain', {}],
  ['streamed', { stream: true }],
])('%s', (_, mode) => {
  test('a model that a local server lists is asked there, and under the names that people use', async () => {
    for (const [model, sent] of [
      ['shared-model', 'shared-model'],
      ['early-model', 'early-model'],
      ['llama3.2', 'llama3.2:latest'],
      ['llama3.2:latest', 'llama3.2:latest'],
      ['qwen/qwen3-8b', 'qwen/qwen3-8b'],
    ] as const) {
      expect((await say(model, mode)).status).toBe(200)
      expect(local.last().body).toMatchObject({ model: sent })
    }
    expect(wentTo()).toEqual([5, 0])
  })

  test('other models, and providers that the client names, get their calls as ever', async () => {
    await say('gpt-4o', mode)
    await say('cloud/shared-model', mode)
    await say('shared-model', mode, { 'x-provider': 'cloud' })
    expect(wentTo()).toEqual([0, 3])
  })

  test('no call is lost while the local server is down: the first to notice is answered too', async () => {
    await whileDown(async () => {
      for (let n = 0; n < 3; n += 1) expect((await say('shared-model', mode)).status).toBe(200)
      expect(calls(cloud)).toHaveLength(3)
    })
    await sync()
    expect((await say('shared-model', mode)).status).toBe(200)
    expect(wentTo()).toEqual([1, 3])
  })

  test('a local server that fails leaves the call to another one, and keeps its place', async () => {
    local.reply({ status: 503 })
    expect((await say('shared-model', mode)).status).toBe(200)
    expect(wentTo()).toEqual([1, 1])
    await say('shared-model', mode)
    expect(wentTo()).toEqual([2, 1])
    local.reply({ status: 400 })
    expect((await say('shared-model', mode)).status).toBe(400)
    expect(wentTo()).toEqual([3, 1])
  })

  test('a model that only the local server has fails with what it said, asked once', async () => {
    local.reply({ status: 503, times: 5 })
    expect((await say('llama3.2', mode)).status).toBe(502)
    expect(wentTo()).toEqual([1, 0])
    await whileDown(async () => {
      const { status, body } = await say('llama3.2', mode)
      expect([status, JSON.stringify(body)]).toEqual([502, expect.stringContaining('ollama')])
    })
  })

  test('simple calls go to the local model, and to the requested one where that cannot', async () => {
    await set({
      simple: { model: 'ollama/llama3.2:latest', max_tokens: 300, models: ['gpt-4o-mini', 'gpt-3*'] },
    })
    await sync()
    const long = { messages: [{ role: 'user', content: 'word '.repeat(400) }] }
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
    await say('gpt-4o-mini', mode)
    expect(wentTo()).toEqual([1, 0])
    expect(local.last().body).toMatchObject({ model: 'llama3.2:latest' })
    for (const more of [
      { max_tokens: 1000 },
      long,
      { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] },
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'what is it?' }, image] }] },
      { n: 2 },
      { response_format: { type: 'json_object' }, messages: [{ role: 'user', content: 'as JSON' }] },
    ])
      await say('gpt-4o-mini', { ...more, ...mode })
    await say('gpt-4o', mode)
    await say('cloud/gpt-4o-mini', mode)
    expect(wentTo()).toEqual([1, 8])
    local.reply({ status: 400 })
    expect((await say('gpt-4o-mini', mode)).status).toBe(200)
    expect(cloud.last().body).toMatchObject({ model: 'gpt-4o-mini' })
    await whileDown(async () => expect((await say('gpt-4o-mini', mode)).status).toBe(200))
    await set({ simple: null })
  })
})

test('a stopped server gets no calls within one interval, without a call that finds out', async () => {
  await set({ interval_s: 0.2 })
  await whileDown(async () => {
    await vi.waitFor(async () => {
      const { body } = await gateway.api('GET', '/api/modules/localsync/endpoints')
      expect(body.endpoints).toMatchObject([{ provider: 'ollama', status: 'down', models: served }])
    }, 10_000)
    const { headers } = await say('shared-model')
    const id = headers.get('x-trace-id')
    const trace = await vi.waitFor(async () => {
      const { status, body } = await gateway.api('GET', `/api/observe/traces/${id}`)
      expect(status).toBe(200)
      return body
    }, 10_000)
    expect(trace.attempts).toMatchObject([{ provider: 'cloud' }])
  })
  await vi.waitFor(async () => {
    await say('shared-model')
    expect(calls(local).length).toBeGreaterThan(0)
  }, 10_000)
  await set({ interval_s: 3600 })
})

test('models that come and go are in the list after the next check', async () => {
  const list = async () =>
    (await gateway.api('GET', '/v1/models')).body.data.map(({ id }: { id: string }) => id)
  await whileDown(async () => {}, ['mistral-small'])
  await sync()
  expect(await list()).toContain('mistral-small')
  expect((await say('mistral-small')).status).toBe(200)
  expect((await say('llama3.2')).status).toBe(404)
  await say('shared-model')
  expect(wentTo()).toEqual([1, 1])
  await whileDown(async () => {})
  await sync()
})

test('answers of a cache do not mix those of the local model with those of the requested one', async () => {
  await gateway.module('cachelayer', { enabled: true, config: { ttl_s: 600 } })
  await set({ simple: { model: 'ollama/shared-model' } })
  await sync()
  await say('gpt-4o-mini')
  await say('gpt-4o-mini')
  expect(wentTo()).toEqual([1, 0])
  await set({ simple: null })
  await say('gpt-4o-mini')
  expect(wentTo()).toEqual([1, 1])
  await gateway.module('cachelayer', { enabled: false })
})

test('only configured providers are asked, by name, and a setting takes no address', async () => {
  await sync()
  expect(bystander.requests).toEqual([])
  expect(local.requests.map(({ path }) => path)).toEqual(['/v1/models'])
  for (const providers of [['http://169.254.169.254/latest'], ['127.0.0.1:80'], ['../x']])
    await expect(set({ providers })).rejects.toThrow('expected the name of a provider')
  await set({ providers: ['nobody'] })
  expect((await sync()).body).toEqual({ endpoints: [] })
  await set({ providers: null })
  const { body } = await sync()
  expect(body.endpoints.map(({ provider }: { provider: string }) => provider).toSorted()).toEqual([
    'cloud',
    'early',
    'ollama',
    'vllm',
  ])
  await set({})
})

test('a change of settings forgets nothing, also while a call of the earlier ones still runs', async () => {
  local.reply({ content: ['a ', 'b'], gapMs: 300 })
  const running = say('llama3.2', { stream: true })
  await vi.waitFor(() => expect(calls(local)).toHaveLength(1))
  await set({ interval_s: 3000 })
  await sync()
  expect((await running).status).toBe(200)
  expect((await say('llama3.2')).status).toBe(200)
  await set({})
  await whileDown(async () => expect((await say('llama3.2')).status).toBe(502))
})

test('switched off it leaves nothing behind: models are where they were', async () => {
  await gateway.module('localsync', { enabled: false })
  await say('shared-model')
  expect((await say('llama3.2')).status).toBe(404)
  expect(wentTo()).toEqual([0, 1])
  await set({})
})
