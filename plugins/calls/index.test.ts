import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ask } from '../../test/ask.ts'
import { type Dropin, writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Makes calls for its caller: whole as JSON, or streamed as events; a text that is `as` names another user. */
const desk: Dropin = {
  manifest: { kind: 'area', permissions: ['routes', 'calls'] },
  setup: `
    const body = { safeParse: (data) => ({ success: true, data }) }
    const settled = []
    const made = ({ body, principal, signal }) => {
      const { request, options, as } = body
      const call = ctx.call(request, { as: as ?? principal, signal, ...options })
      call.outcome.then((outcome) => settled.push({ id: call.id, ending: outcome?.ending, status: outcome?.status }))
      return call
    }
    ctx.route({ method: 'post', path: '/api/desk/ask', access: 'any', summary: 's', body, returns: 'text',
      async handle(input) {
        const { id, reply } = made(input)
        input.header('x-call', id)
        return JSON.stringify({ id, body: (await reply).body })
      } })
    ctx.route({ method: 'post', path: '/api/desk/stream', access: 'any', summary: 's', body, returns: 'events',
      async *handle(input) {
        const { id, reply } = made(input)
        yield { event: 'id', data: id }
        for await (const batch of (await reply).chunks)
          for (const chunk of batch) yield { event: 'text', data: chunk.data.choices[0]?.delta.content ?? '' }
      } })
    ctx.route({ method: 'get', path: '/api/desk/settled', access: 'any', summary: 's', returns: 'text',
      handle: () => JSON.stringify(settled) })`,
}

const helper: Dropin = {
  manifest: { stage: 'access', failure: 'closed', permissions: ['body:read', 'models:1'] },
  setup: `return { async request(call) {
    const [wish, model = 'gpt-4o-mini'] = call.request.user?.split(' ') ?? []
    if (wish !== 'gateway' && wish !== 'caller') return
    let text = ''
    const request = { model, messages: [{ role: 'user', content: 'help' }] }
    for await (const batch of await ctx.completeStreamed(request, { on: call, as: wish }))
      for (const { data } of batch) text += data.choices[0]?.delta.content ?? ''
    call.trace.header('x-helped', text)
  } }`,
}

/** Has another model asked before the one that answers: `other>model`. */
const twice: Dropin = {
  manifest: { stage: 'deliver', failure: 'closed', permissions: ['body:read'] },
  setup: `return {
    wraps: (call) => call.request.model.includes('>'),
    async around(call, next) {
      const [other, model] = call.request.model.split('>')
      const reply = await next(call.withRequest({ model: other }))
      if (reply.kind === 'stream') for await (const _ of reply.chunks) {}
      return next(call.withRequest({ model }))
    } }`,
}

/** Would choose among targets, and cannot start. */
const shut: Dropin = {
  manifest: { stage: 'route', failure: 'closed', enabled: false },
  setup: `throw new Error('not today')`,
}

let upstream: Upstream
let gateway: TestGateway
let folder: string
let remove: () => Promise<void>
let user: { userId: string; key: string }
let count = 0

beforeAll(async () => {
  upstream = await startUpstream({ apiKey: ['sk-test', 'sk-own-secret-key', 'sk-once-secret-key'] })
  ;({ folder, remove } = await writeDropins({ desk, helper, twice, shut }))
  const prices = { 'openai/gpt-4o-mini': { input_usd_per_m: 1000, output_usd_per_m: 1000 } }
  gateway = await startGateway({ upstream, config: { prices, plugin_dirs: [folder] } })
})

beforeEach(async () => {
  count += 1
  upstream.reset()
  user = await gateway.signUp(`user-${count}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await remove()
})

const question = (content = `question ${count}`) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content }],
})

async function deskAsk(request: object = question(), more: object = {}, key = user.key) {
  const { status, body, headers } = await gateway.api('POST', '/api/desk/ask', { request, ...more }, key)
  return { status, body, id: headers.get('x-call')! }
}

const traceOf = (id: string) =>
  vi.waitFor(async () => {
    const { status, body } = await gateway.api('GET', `/api/observe/traces/${id}`)
    expect(status).toBe(200)
    return body
  }, 10_000)

describe('a call in the name of a user', () => {
  test('is traced with its bodies, source and parent, and is in the usage of the user', async () => {
    upstream.reply({ content: 'made' })
    const options = {
      source: 'replay',
      parent: 'tr_before',
      project: 'lab',
      tags: { run: '7' },
      session: 's1',
    }
    const { status, body, id } = await deskAsk(question(), { options })
    expect([status, body.id]).toEqual([200, id])
    expect(body.body.choices[0].message.content).toBe('made')
    const trace = await traceOf(id)
    expect(trace).toMatchObject({
      source: 'replay',
      parent_id: 'tr_before',
      session_id: 's1',
      project: 'lab',
      tags: { run: '7' },
      user_id: user.userId,
      status: 'ok',
    })
    expect(JSON.stringify(trace.request)).toContain(`question ${count}`)
    expect(JSON.stringify(trace.response)).toContain('made')
    const { body: used } = await gateway.api('GET', '/api/auth/me/usage', undefined, user.key)
    expect(JSON.stringify(used)).toContain('"requests":1')
    const figures = async (at: string, by = user.key) => (await gateway.api('GET', at, undefined, by)).body
    for (const by of [user.key, gateway.adminKey]) {
      const before = await figures('/api/observe/overview', by)
      expect(before.total_requests ?? before.requests).toBe(0)
      const asked = await figures('/api/observe/overview?source=replay', by)
      expect(asked.total_requests ?? asked.requests).toBe(1)
      expect((await figures('/api/observe/costs?source=replay', by)).total_usd).toBeGreaterThan(0)
    }
  })

  test('goes with the key that the user has for the provider', async () => {
    const path = '/api/auth/me/providers/openai'
    const set = await gateway.api('PUT', path, { api_key: 'sk-own-secret-key' }, user.key)
    expect([200, 201]).toContain(set.status)
    expect((await deskAsk()).status).toBe(200)
    expect(upstream.last().key).toBe('sk-own-secret-key')
  })

  test('falls under scope, rate limit, price limit and guards', async () => {
    await gateway.module('keyscope', { config: { default_scope: { models: ['gpt-4o-mini'] } } })
    const scoped = await deskAsk({ ...question(), model: 'gpt-4o' })
    expect([scoped.status, scoped.body.error.module]).toEqual([403, 'keyscope'])
    await gateway.module('keyscope', { config: { default_scope: null } })

    const rules = [{ per: 'user', rpm: 1 }]
    await gateway.module('rateshield', { enabled: true, config: { rules } })
    const limited = [(await deskAsk()).status, (await deskAsk()).status]
    await gateway.module('rateshield', { config: { rules: null } })
    expect(limited).toEqual([200, 429])

    await gateway.module('secretscan', { enabled: true, config: { request: 'block' } })
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    const blocked = await deskAsk(question(`my key is ${secret}`))
    await gateway.module('secretscan', { config: { request: null } })
    expect([blocked.status, blocked.body.error.module]).toEqual([400, 'secretscan'])
    expect(upstream.requests).toHaveLength(1)
    expect(JSON.stringify(await traceOf(blocked.id))).not.toContain(secret)
  })

  test('is not sent when it could cost more than it may, or when that is not known', async () => {
    const options = { maxCostUsd: 0.5 }
    const status = async (request: object) => (await deskAsk(request, { options })).status
    expect(await status({ ...question(), max_tokens: 400 })).toBe(200)
    expect(await status({ ...question(), max_tokens: 600 })).toBe(400)
    expect(await status({ ...question(), max_tokens: 300, n: 2 })).toBe(400)
    const prompts = { model: 'gpt-4o-mini', prompt: ['one', 'two'], max_tokens: 300 }
    expect(await status(prompts)).toBe(400)
    expect(await status({ ...prompts, prompt: 'one', best_of: 2 })).toBe(400)
    expect(await status({ ...question(), model: 'openai/unheard-of', max_tokens: 1 })).toBe(400)
    expect(upstream.requests).toHaveLength(1)
  })

  test('is not sent to several models at a time that could cost more together', async () => {
    const config = { models: ['gpt-4o-mini', 'openai/gpt-4o-mini'], mode: 'all' }
    await gateway.module('multicall', { enabled: true, config })
    const gate = Promise.withResolvers<void>()
    upstream.reply({ gate: { opened: gate.promise } })
    const asked = deskAsk({ ...question(), max_tokens: 300 }, { options: { maxCostUsd: 0.5 } })
    await upstream.received(1)
    gate.resolve()
    expect((await asked).status).toBe(200)
    expect(upstream.requests).toHaveLength(1)
    await gateway.module('multicall', { enabled: false })
  })

  test('brings a key for itself alone, which nothing tells', async () => {
    const credential = { provider: 'openai', key: 'sk-once-secret-key' }
    upstream.reply({ status: 401, error: { message: 'no such key: sk-once-secret-key' } })
    const refused = await deskAsk(question(), { options: { credential } })
    expect(refused.status).toBe(502)
    const { status, id } = await deskAsk(question(), { options: { credential } })
    expect([status, upstream.last().key]).toEqual([200, 'sk-once-secret-key'])
    const told = JSON.stringify([refused.body, await traceOf(refused.id), await traceOf(id), gateway.logged])
    expect(told).not.toContain('sk-once')
    expect(told).not.toContain('-key"')
    await deskAsk()
    expect(upstream.last().key).toBe('sk-test')
  })

  test('takes its key to no provider but the one that it is for', async () => {
    const credential = { provider: 'anthropic', key: 'sk-once-secret-key' }
    await deskAsk({ ...question(), model: 'openai/gpt-4o-mini' }, { options: { credential } })
    expect(upstream.requests).toEqual([])
  })

  test('passes by modules that it names, which is in the trace, and by no guard', async () => {
    await gateway.module('cachelayer', { enabled: true })
    const options = { skip: ['cachelayer'] }
    for (const more of [{}, {}, { options }]) await deskAsk(question(), more)
    expect(upstream.requests).toHaveLength(2)
    const { id } = await deskAsk(question(), { options })
    expect((await traceOf(id)).modules).toContainEqual(
      expect.objectContaining({ module: 'cachelayer', verdict: 'skipped', detail: { by: 'desk' } }),
    )
    expect((await deskAsk(question(), { options: { skip: ['keyscope'] } })).status).toBe(400)
    await gateway.module('cachelayer', { enabled: false })
  })

  test.each(['leakguard', 'codefence', 'structuredshield', 'contextwindow', 'regionroute', 'localsync'])(
    'passes by no %s, whose stage is no guard’s',
    async (module) => {
      const { body: before } = await gateway.api('GET', `/api/proxy/modules/${module}`)
      await gateway.module(module, { enabled: true })
      const { status, body } = await deskAsk(question(), { options: { skip: [module] } })
      await gateway.module(module, { enabled: before.enabled })
      expect([status, body.error]).toEqual([400, expect.objectContaining({ param: 'skip' })])
    },
  )

  test('is kept in its region, also where it would pass by what keeps it there', async () => {
    await gateway.module('regionroute', { enabled: true, config: { default: ['eu'] } })
    try {
      expect((await deskAsk()).status).toBe(403)
      expect((await deskAsk(question(), { options: { skip: ['regionroute'] } })).status).toBe(400)
      expect(upstream.requests).toEqual([])
    } finally {
      await gateway.module('regionroute', { enabled: false, config: null })
    }
  })

  test('passes by no module that cannot start and refuses calls for it', async () => {
    const config = { modules: { shut: { enabled: true } }, plugin_dirs: [folder] }
    const refusing = await startGateway({ upstream, config })
    try {
      const ask = (options: object) => refusing.api('POST', '/api/desk/ask', { request: question(), options })
      expect((await ask({})).body.error).toMatchObject({ module: 'shut' })
      expect((await ask({ skip: ['shut'] })).status).toBe(400)
      expect(upstream.requests).toEqual([])
    } finally {
      await refusing.close()
    }
  })

  test.each([
    'modelalias',
    'modelswitch',
    'canarydeploy',
    'fallbackrouter',
    'tierdrop',
    'keypool',
    'evalgate',
  ])('passes by %s, which chooses or asks again and guards nothing', async (module) => {
    const { body: before } = await gateway.api('GET', `/api/proxy/modules/${module}`)
    await gateway.module(module, { enabled: true })
    const { status, id } = await deskAsk(question(), { options: { skip: [module] } })
    await gateway.module(module, { enabled: before.enabled })
    expect(status).toBe(200)
    expect((await traceOf(id)).modules).toContainEqual(
      expect.objectContaining({ module, verdict: 'skipped' }),
    )
  })

  test('is refused when its key does not work, or is not the one of its user', async () => {
    const other = await gateway.signUp(`other-${count}`)
    const { body: me } = await gateway.api('GET', '/api/auth/me', undefined, user.key)
    const as = { type: 'user', keyId: me.key_id, userId: user.userId, plan: 'free' }
    expect((await deskAsk(question(), { as }, other.key)).status).toBe(200)
    for (const wrong of [
      { ...as, userId: other.userId },
      { ...as, keyId: 'key_none' },
    ])
      expect((await deskAsk(question(), { as: wrong }, other.key)).status).toBe(401)
    await gateway.api('DELETE', `/api/auth/me/keys/${me.key_id}`, undefined, user.key)
    expect((await deskAsk(question(), { as }, other.key)).status).toBe(401)
    expect(upstream.requests).toHaveLength(1)
  })
})

describe('a streamed call in the name of a user', () => {
  const open = (signal?: AbortSignal) =>
    fetch(`${gateway.url}/api/desk/stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ request: { ...question(), stream: true } }),
      ...(signal && { signal }),
    })
  const settledOf = async () => (await gateway.api('GET', '/api/desk/settled', undefined, user.key)).body

  test('is given on as it comes, and traced with what was said', async () => {
    const gate = Promise.withResolvers<void>()
    upstream.reply({ content: ['one ', 'two'], gate: { opened: gate.promise, after: 2 } })
    let text = ''
    for await (const part of (await open()).body!.pipeThrough(new TextDecoderStream())) {
      text += part
      if (text.includes('one ')) gate.resolve()
    }
    const id = /tr_\w+/.exec(text)![0]
    const trace = await traceOf(id)
    expect(trace).toMatchObject({ stream: true, status: 'ok', source: 'plugin', finish_reason: 'stop' })
    expect(trace.ttft_ms).toBeGreaterThan(0)
    expect(JSON.stringify(trace.response)).toContain('one two')
  })

  test('whose client leaves closes the connection to the provider, and settles', async () => {
    upstream.reply({ content: ['one ', 'two'], hangAfter: 2 })
    const left = new AbortController()
    const reader = (await open(left.signal)).body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('one ')) text += (await reader.read()).value
    left.abort()
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
    const id = /tr_\w+/.exec(text)![0]
    expect(await traceOf(id)).toMatchObject({ status: 'client_abort' })
    await vi.waitFor(async () =>
      expect(await settledOf()).toContainEqual({ id, ending: 'client_abort', status: 200 }),
    )
    expect(gateway.kernel.registry.generation.leases).toBe(1)
  })
})

describe('a helper call of a module', () => {
  afterEach(() => upstream.reset())

  test.each(['gateway', 'caller'])('is streamed, with the keys and on the account of the %s', async (as) => {
    const path = '/api/auth/me/providers/openai'
    await gateway.api('PUT', path, { api_key: 'sk-own-secret-key' }, user.key)
    upstream.reply({ content: ['he', 'lped'] })
    const answer = await ask(gateway, {
      headers: { authorization: `Bearer ${user.key}` },
      body: { ...question(), user: as },
    })
    expect([answer.status, answer.headers.get('x-helped')]).toEqual([200, 'helped'])
    expect(upstream.requests.map(({ key }) => key)).toEqual([
      as === 'caller' ? 'sk-own-secret-key' : 'sk-test',
      'sk-own-secret-key',
    ])
    await expect
      .poll(async () => (await gateway.api('GET', '/api/auth/me/usage', undefined, user.key)).body.requests)
      .toBe(as === 'caller' ? 2 : 1)
  })

  test.each([
    ['openai/unpriced', 'openai/unpriced has no price'],
    ['openai/unpriced>gpt-4o-mini', 'a model that was asked on the way to openai/gpt-4o-mini has no price'],
    ['gpt-4o-mini>openai/unpriced', 'a model that was asked on the way to openai/unpriced has no price'],
  ])('is a failure of the module where the budget cannot apply to all of it: %s', async (model, why) => {
    const authorization = { authorization: `Bearer ${user.key}` }
    const helped = await ask(gateway, {
      headers: authorization,
      body: { ...question(), user: `gateway ${model}` },
    })
    expect(helped.status).toBe(500)
    const { body } = await gateway.api('GET', '/api/proxy/modules/helper/events')
    expect(body.events[0].detail).toContain(why)
    const whole = { ...question(), user: 'gateway gpt-4o-mini>gpt-4o-mini' }
    expect((await ask(gateway, { headers: authorization, body: whole })).status).toBe(200)
  })
})

test('while the area is off, a plugin that makes a call learns so, and clients are not concerned', async () => {
  const { registry } = gateway.kernel
  /** With what needs it, and what needs that. */
  const switchOff = async (id: string): Promise<void> => {
    for (const { id: other, instance, manifest } of registry.plugins)
      if (instance && manifest?.requires.includes(id)) await switchOff(other)
    await registry.change(id, { enabled: false })
  }
  await switchOff('calls')
  const authorization = { authorization: `Bearer ${user.key}` }
  const helped = await ask(gateway, { headers: authorization, body: { ...question(), user: 'gateway' } })
  const plain = await ask(gateway, { headers: authorization, body: question() })
  const { status } = await deskAsk()
  expect([helped.status, plain.status, status]).toEqual([500, 200, 500])
  const events = await gateway.api('GET', '/api/proxy/modules/helper/events')
  expect(JSON.stringify(events.body)).toContain('is not switched on')

  await registry.change('calls', { enabled: true })
  expect((await deskAsk()).status).toBe(200)
})
