import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ask } from '../../test/ask.ts'
import { bareChain } from '../../test/bare.ts'
import { type Dropin, writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { anthropic } from '../../test/upstream/anthropic/index.ts'
import { bedrock, startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Plugins that send calls elsewhere, and that make calls of their own. */
const plugins: Record<string, Dropin> = {
  judge: {
    manifest: { stage: 'inspect', failure: 'closed', permissions: ['body:write', 'models:10'] },
    setup: `return { async request(call) {
      const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'judge this' }] }
      await ctx.complete(request, { on: call, as: call.request.user })
    } }`,
  },
  racer: {
    manifest: { stage: 'deliver', failure: 'closed', permissions: ['body:write'] },
    setup: `return { around: (call, next) =>
      Promise.any(['gpt-4o', 'america/gpt-4o', 'brussels/gpt-4o'].map((model) => next(call.withRequest({ model }))))
        .catch(({ errors }) => { throw errors.find(({ type }) => type !== 'no_target') ?? errors[0] }) }`,
  },
  diverter: {
    manifest: { stage: 'shape', failure: 'closed' },
    setup: `return { request: (call) =>
      call.with({ context: { ...call.context, provider: 'america' } }).withRequest({ model: 'gpt-4o' }) }`,
  },
  errand: {
    manifest: { stage: 'record', failure: 'open', permissions: ['calls', 'routes'] },
    setup: `ctx.route({
      method: 'post', path: '/api/errand', access: 'user', summary: 'Ask', returns: 'text',
      handle: ({ principal }) =>
        ctx.call({ model: 'gpt-4o', messages: [{ role: 'user', content: 'for you' }] }, { as: principal })
          .reply.then(() => '200', ({ status }) => String(status)),
    })
    return {}`,
  },
}

let america: Upstream
let brussels: Upstream
let claude: Upstream
let aws: Upstream
let gateway: TestGateway
let remove: () => Promise<void>
let ada: { readonly userId: string; readonly key: string }

beforeAll(async () => {
  america = await startUpstream()
  brussels = await startUpstream()
  claude = await startUpstream({ wires: [anthropic], apiKey: 'sk-test' })
  aws = await startUpstream({ wires: [bedrock], apiKey: 'ABSKapikey=' })
  const dropins = await writeDropins(plugins)
  remove = dropins.remove
  const like = { type: 'openai', api_key: 'sk-test', models: ['gpt-*', 'global.*'] }
  const providers = {
    america: { ...like, base_url: america.baseUrl(), region: 'us-east-1' },
    brussels: { ...like, base_url: brussels.baseUrl(), region: 'eu-central-1' },
    bedrock: { base_url: aws.baseUrl(), region: 'eu-central-1' },
    anthropic: { base_url: claude.baseUrl(), api_key: 'sk-test', region: 'us-east-1' },
  }
  gateway = await startGateway({ config: { providers, plugin_dirs: [dropins.folder] } })
  await bareChain(gateway)
  ada = await gateway.signUp('ada')
})

beforeEach(async () => {
  for (const upstream of [america, brussels, claude, aws]) upstream.reset()
  await bind({ users: { [ada.userId]: ['eu'] } })
})

afterAll(async () => {
  await gateway.close()
  for (const upstream of [america, brussels, claude, aws]) await upstream.close()
  await remove()
})

const bind = (config: object) =>
  gateway.module('regionroute', { enabled: true, config: { regions: { eu: ['eu-*'] }, ...config } })

const say = (body: object = {}, headers: Record<string, string> = {}, key = ada.key) =>
  ask(gateway, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }], ...body },
  })

const wentTo = () => [america.requests.length, brussels.requests.length]

async function during(modules: Record<string, object>, run: () => Promise<void>): Promise<void> {
  for (const [id, config] of Object.entries(modules)) await gateway.module(id, { enabled: true, config })
  try {
    await run()
  } finally {
    for (const [id, config] of Object.entries(modules)) {
      const cleared = Object.fromEntries(Object.keys(config).map((name) => [name, null]))
      await gateway.module(id, { enabled: false, config: cleared })
    }
  }
}

const refused = { status: 403, body: { error: { code: 'forbidden', module: 'regionroute' } } }

describe.each([
  ['plain', {}],
  ['streamed', { stream: true }],
])('%s', (_, mode) => {
  test('a call goes to the provider in its region, and that of another user goes where it went', async () => {
    expect((await say(mode)).status).toBe(200)
    expect(wentTo()).toEqual([0, 1])
    expect((await say(mode, {}, gateway.adminKey)).status).toBe(200)
    expect(wentTo()).toEqual([1, 1])
  })

  test('it is refused where its model, provider or header name a place outside', async () => {
    expect(await say({ model: 'america/gpt-4o', ...mode })).toMatchObject(refused)
    expect(await say(mode, { 'x-provider': 'america' })).toMatchObject(refused)
    expect(await say(mode, { 'x-region': 'us-east-1' })).toMatchObject(refused)
    expect(await say({ model: 'global.gpt', ...mode })).toMatchObject(refused)
    await during({ diverter: {} }, async () => expect(await say(mode)).toMatchObject(refused))
    expect(wentTo()).toEqual([0, 0])
  })

  test('with the only provider in the region down it fails, and nothing leaves the region', async () => {
    const isDown = async (body: object = {}) => {
      const before = brussels.requests.length
      const { status } = await say({ ...body, ...mode })
      expect([status, brussels.requests.length > before]).toEqual([expect.toSatisfy((s) => s >= 500), true])
    }
    brussels.reply({ status: 500, times: 100 })
    const chains = { '*': ['gpt-4o', 'brussels/gpt-4o', 'america/gpt-4o'] }
    await isDown()
    await during({ modelalias: { aliases: { swift: 'gpt-4o' } } }, () => isDown({ model: 'swift' }))
    await during({ fallbackrouter: { chains, failure_threshold: 100 } }, () => isDown())
    await during({ retrypilot: {} }, () => isDown())
    await during({ racer: {} }, () => isDown())
    const models = ['gpt-4o', 'america/gpt-4o', 'brussels/gpt-5']
    for (const how of ['first', 'best', 'vote', 'all'])
      await during({ multicall: { models, mode: how } }, () => isDown())
    await during(
      { hedgerace: { delay_ms: 1, max_extra_pct: 100, targets: { '*': ['america/gpt-4o'] } } },
      async () => {
        await isDown()
        brussels.reset()
        brussels.reply({ content: 'late', firstByteDelayMs: 100 })
        expect((await say(mode)).status).toBe(200)
        brussels.reply({ status: 500, times: 100 })
      },
    )
    expect(america.requests).toEqual([])
  })

  test('a chain of fallbacks passes a target outside by, and is refused where all of them are', async () => {
    await during({ fallbackrouter: { chains: { 'gpt-4o': ['america/*', 'brussels/*'] } } }, async () => {
      expect((await say(mode)).status).toBe(200)
      expect(wentTo()).toEqual([0, 1])
    })
    await during({ fallbackrouter: { chains: { 'gpt-4o': ['america/*', 'america/gpt-5'] } } }, async () =>
      expect(await say(mode)).toMatchObject(refused),
    )
    expect(wentTo()).toEqual([0, 1])
  })

  test.each(['gateway', 'caller'])('what a plugin asks for a call stays there too, as the %s', async (as) => {
    await during({ judge: {} }, async () => {
      expect((await say({ user: as, ...mode })).status).toBe(200)
      expect(wentTo()).toEqual([0, 2])
      await say({ user: as, ...mode }, { 'x-region': 'eu' }, gateway.adminKey)
      expect(wentTo()).toEqual([0, 4])
      brussels.reply({ status: 500, times: 100 })
      expect((await say({ user: as, ...mode })).status).toBeGreaterThanOrEqual(400)
      expect(america.requests).toEqual([])
    })
  })
})

test('a copy for comparison stays in the region too, although it outlives its call', async () => {
  await during({ mirrortest: { target: 'america/gpt-4o', percent: 100 } }, async () => {
    const { status, headers } = await say()
    expect(status).toBe(200)
    await vi.waitFor(async () => {
      const at = `/api/modules/mirrortest/comparisons?trace_id=${headers.get('x-trace-id')}`
      const { body } = await gateway.api('GET', at)
      expect(body.comparisons).toMatchObject([{ problem: 'forbidden (403)' }])
    }, 10_000)
    expect(wentTo()).toEqual([0, 1])
  })
})

test('a call that a plugin makes in the name of a user stays in the region of that user', async () => {
  await during({ errand: {} }, async () => {
    expect((await gateway.api('POST', '/api/errand', {}, ada.key)).body).toBe(200)
    brussels.reply({ status: 500, times: 100 })
    expect((await gateway.api('POST', '/api/errand', {}, ada.key)).body).toBe(502)
    expect(wentTo()).toEqual([0, 2])
  })
})

test('a provider outside is not asked to count tokens either', async () => {
  const count = async (key: string) => {
    const { status, headers } = await ask(gateway, {
      path: '/v1/messages/count_tokens',
      headers: { authorization: `Bearer ${key}` },
      body: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'a secret of the region' }] },
    })
    return [status, headers.get('x-token-count'), claude.requests.length]
  }
  expect(await count(ada.key)).toEqual([200, expect.not.stringContaining('provider'), 0])
  expect(await count(gateway.adminKey)).toEqual([200, 'provider', 1])
})

test('a key of AWS that is for another region leads out of it, and a global profile too', async () => {
  const status = async (region: string, model: string) => {
    const key = { api_key: `ABSKapikey=@${region}` }
    await gateway.api('PUT', '/api/auth/me/providers/bedrock', key, ada.key)
    return (await say({ model: `bedrock/${model}` })).status
  }
  expect(await status('us-east-1', 'amazon.nova-lite-v1:0')).toBe(403)
  const profile = 'arn:aws:bedrock:eu-central-1:123456789012:inference-profile/global.amazon.nova-lite-v1:0'
  expect(await status('eu-west-1', profile)).toBe(403)
  expect(aws.requests.filter(({ method }) => method === 'POST')).toEqual([])
  expect(await status('eu-west-1', 'amazon.nova-lite-v1:0')).toBe(200)
})

test('an answer from outside is not given again to a call that must stay inside', async () => {
  await during({ cachelayer: { ttl_s: 600, share: 'everyone' } }, async () => {
    await say({}, {}, gateway.adminKey)
    await say()
    expect(wentTo()).toEqual([1, 1])
    await say()
    await say({}, {}, gateway.adminKey)
    expect(wentTo()).toEqual([1, 1])
  })
})

test('key, project, default and header bind, all of them together, and a name that is not known is nowhere', async () => {
  const status = async (headers = {}) => (await say({}, headers)).status
  const { body } = await gateway.api('GET', '/api/auth/me/keys', undefined, ada.key)
  for (const [config, headers, expected] of [
    [{ keys: { [body.keys[0].id]: ['us-east-1'] } }, {}, [1, 0]],
    [{ projects: { docs: ['eu'] } }, { 'x-project': 'docs' }, [0, 1]],
    [{ projects: { docs: ['eu'] } }, { 'x-project': 'web' }, [1, 0]],
    [{ default: ['eu'] }, {}, [0, 1]],
    [{ default: ['eu'], users: { [ada.userId]: ['*'] } }, {}, [1, 0]],
    [{ users: { [ada.userId]: ['eu', 'US-EAST-1'] } }, { 'x-region': 'eu-central-1' }, [0, 1]],
    [{ users: { [ada.userId]: ['eu'] }, projects: { docs: ['us-east-1'] } }, { 'x-project': 'docs' }, [0, 0]],
    [{ default: ['mars'] }, {}, [0, 0]],
    [{}, { 'x-region': 'mars, eu' }, [0, 1]],
  ] as const) {
    america.reset()
    brussels.reset()
    await bind({ users: null, keys: null, projects: null, default: null, ...config })
    expect([await status(headers), ...wentTo()]).toEqual([
      expected[0] + expected[1] > 0 ? 200 : 403,
      ...expected,
    ])
  }
  await bind({ keys: null, projects: null, default: null })
})

test('a region that an admin says at runtime holds for the next call', async () => {
  await gateway.api('PUT', '/api/proxy/providers/brussels', { region: 'us-west-2' })
  expect(await say()).toMatchObject(refused)
  await gateway.api('PUT', '/api/proxy/providers/america', { region: 'eu-west-1' })
  expect((await say()).status).toBe(200)
  expect(wentTo()).toEqual([1, 0])
  for (const name of ['america', 'brussels'])
    await gateway.api('PUT', `/api/proxy/providers/${name}`, { region: null })
})
