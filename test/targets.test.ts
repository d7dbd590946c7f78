import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { ask } from './ask.ts'
import { type Dropin, writeDropins } from './dropins.ts'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

/** Modules that say where calls may go, what they prefer, and ask where a call would go. */
const modules: Record<string, Dropin> = {
  residency: {
    manifest: { stage: 'route', failure: 'closed', enabled: false },
    setup: `return { eligible: ({ region = 'nowhere' }, call) => {
      if (call.request.user === 'breaks') throw new Error('no')
      return region === 'eu' ? undefined : 'it is in ' + region
    } }`,
  },
  thrift: {
    manifest: { stage: 'route', failure: 'open', enabled: false },
    setup: `return { prefers: ({ rates }, call) => call.request.user === 'breaks' ? NaN : -(rates?.input ?? 1000) }`,
  },
  asker: {
    manifest: { stage: 'access', failure: 'closed', permissions: ['body:read', 'targets'] },
    setup: `return { async request(call) {
      if (call.request.user !== 'ask') return
      const all = await ctx.targets(call)
      call.trace.header('x-targets', JSON.stringify(all.map(({ provider, model, window, rates, region, local, capabilities }) =>
        ({ provider, model, window, input: rates?.input, region, local, tools: capabilities.tools }))))
    } }`,
  },
  nosy: {
    manifest: { stage: 'access', failure: 'open', permissions: ['body:read'], enabled: false },
    setup: `return { async request(call) { await ctx.targets(call) } }`,
  },
}

let us: Upstream
let eu: Upstream
let gateway: TestGateway
let remove: () => Promise<void>

beforeAll(async () => {
  us = await startUpstream()
  eu = await startUpstream()
  const dropins = await writeDropins(modules)
  remove = dropins.remove
  const like = { type: 'openai', models: ['gpt-*', 'shared-*'] }
  const providers = {
    america: { ...like, base_url: us.baseUrl(), api_key: 'sk-test', region: 'us' },
    brussels: { ...like, base_url: eu.baseUrl(), api_key: 'sk-test', region: 'eu' },
  }
  const prices = {
    'america/gpt-4o': { input_usd_per_m: 2, output_usd_per_m: 2 },
    'brussels/gpt-4o': { input_usd_per_m: 3, output_usd_per_m: 3 },
  }
  gateway = await startGateway({ config: { providers, prices, plugin_dirs: [dropins.folder] } })
  await gateway.module('retrypilot', { enabled: false })
})

beforeEach(() => {
  us.reset()
  eu.reset()
})

afterAll(async () => {
  await gateway.close()
  await Promise.all([us.close(), eu.close(), remove()])
})

const say = (model: string, headers: Record<string, string> = {}, more: object = {}) =>
  ask(gateway, { headers, body: { model, messages: [{ role: 'user', content: 'hello' }], ...more } })

const wentTo = () => [us.requests.length, eu.requests.length]

async function during(id: string, run: () => Promise<void>): Promise<void> {
  await gateway.module(id, { enabled: true })
  try {
    await run()
  } finally {
    await gateway.module(id, { enabled: false })
  }
}

test('without a word of modules the first provider that serves the model gets it', async () => {
  await say('gpt-4o')
  expect(wentTo()).toEqual([1, 0])
})

test('a call goes where modules let it, which is in its trace, and nowhere else', async () => {
  await during('residency', async () => {
    const answer = await say('gpt-4o')
    expect([answer.status, ...wentTo()]).toEqual([200, 0, 1])
    const trace = await vi.waitFor(async () => {
      const { body } = await gateway.api('GET', `/api/observe/traces/${answer.headers.get('x-trace-id')}`)
      expect(body.decisions).toHaveLength(1)
      return body
    }, 10_000)
    expect(trace.decisions).toEqual([
      {
        kind: 'target',
        chosen: 'brussels/gpt-4o',
        reason: 'america/gpt-4o: it is in us',
        considered: ['america/gpt-4o', 'brussels/gpt-4o'],
      },
    ])
    for (const [model, headers] of [
      ['america/gpt-4o', {}],
      ['gpt-4o', { 'x-provider': 'america' }],
    ] as const) {
      const refused = await say(model, headers)
      expect([refused.status, refused.body.error]).toMatchObject([
        400,
        {
          type: 'no_target',
          module: 'residency',
          param: 'model',
          details: { targets: [{ target: 'america/gpt-4o', module: 'residency', reason: 'it is in us' }] },
        },
      ])
    }
    expect(wentTo()).toEqual([0, 1])
  })
})

test('a fallback goes to no place that modules keep a call from', async () => {
  await gateway.module('fallbackrouter', { config: { chains: { 'gpt-4o': ['brussels/*', 'america/*'] } } })
  await during('residency', async () => {
    eu.reply({ status: 500 })
    expect((await say('gpt-4o')).status).toBeGreaterThanOrEqual(400)
    expect(wentTo()).toEqual([0, 1])
  })
  await gateway.module('fallbackrouter', { config: { chains: null } })
})

test('a call goes where modules prefer it', async () => {
  await during('thrift', async () => {
    await say('gpt-4o')
    expect(wentTo()).toEqual([1, 0])
    await gateway.module('thrift', { when: { models: ['shared-*'] } })
    await say('gpt-4o')
    await gateway.module('thrift', { when: null })
    expect(wentTo()).toEqual([2, 0])
  })
})

test('a module that breaks over a place refuses the call or is passed over, by its policy', async () => {
  await during('residency', async () => {
    const refused = await say('gpt-4o', {}, { user: 'breaks' })
    expect([refused.status, (refused.body.error as { module: string }).module]).toEqual([500, 'residency'])
  })
  await during('thrift', async () => expect((await say('gpt-4o', {}, { user: 'breaks' })).status).toBe(200))
})

test('an explanation of a call knows where it would go', async () => {
  const explain = async (model: string) => {
    const request = { model, messages: [{ role: 'user', content: 'hello' }] }
    const { body } = await gateway.api('POST', '/api/proxy/chain/explain', {
      path: '/v1/chat/completions',
      request,
    })
    return body
  }
  await during('residency', async () => {
    expect(JSON.stringify(await explain('gpt-4o'))).toContain('brussels')
    expect(await explain('america/gpt-4o')).toMatchObject({ verdict: 'cannot_route' })
  })
})

const told = async (model: string, headers: Record<string, string> = {}) =>
  JSON.parse((await say(model, headers, { user: 'ask' })).headers.get('x-targets')!)

test('targets are the places that the caller can use, with what is known of them', async () => {
  expect(await told('gpt-4o')).toEqual([
    {
      provider: 'america',
      model: 'gpt-4o',
      window: expect.any(Number),
      input: 2,
      region: 'us',
      local: true,
      tools: true,
    },
    {
      provider: 'brussels',
      model: 'gpt-4o',
      window: expect.any(Number),
      input: 3,
      region: 'eu',
      local: true,
      tools: true,
    },
  ])
  await during('residency', async () =>
    expect(await told('gpt-4o')).toMatchObject([{ provider: 'brussels' }]),
  )
  expect(await told('brussels/shared-x')).toMatchObject([{ provider: 'brussels', model: 'shared-x' }])
  expect(await told('nobody-serves-it')).toEqual([])
})

test('the key of a user opens places for that user', async () => {
  const { key } = await gateway.signUp('own')
  const headers = { authorization: `Bearer ${key}` }
  expect(await told('groq/some-model', headers)).toEqual([])
  await gateway.api('PUT', '/api/auth/me/providers/groq', { api_key: 'sk-own' }, key)
  expect(await told('groq/some-model', headers)).toMatchObject([
    { provider: 'groq', model: 'some-model', local: false },
  ])
})

test('who has not asked for it is told of no targets', async () => {
  await during('nosy', async () => {
    await say('gpt-4o')
    const { body } = await gateway.api('GET', '/api/proxy/modules/nosy/events')
    expect(JSON.stringify(body)).toContain('without the permission \\"targets\\"')
  })
})
