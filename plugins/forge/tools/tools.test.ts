import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge } from '../../../test/forge.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'

const forge = startForge({
  egress: { allow: ['127.0.0.1'] },
  secrets: { TOOL_SEND: 'qxoperator', OTHER: 'qxother' },
})
const { api, run, steps } = forge
const path = '/api/forge/tools'

let service: Receiver

beforeAll(async () => {
  service = await startReceiver()
})

afterAll(() => service.close())

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

async function register(name: string, more: object = {}, key?: string) {
  const handler = { url: `${service.url}/${name}`, headers: { 'x-key': 'qxcredential' } }
  const { status, body } = await api('POST', path, { name, schema, handler, ...more }, key)
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

const use = (id: string, tool: string, more: object = {}) => ({
  id,
  type: 'tool',
  config: { tool, arguments: { city: '{{input.city}}' } },
  ...more,
})

test('a tool is registered, shown without its credentials, changed and deleted', async () => {
  const made = await register('weather', { description: 'Of a city.', side_effects: 'read' })
  expect(made).toMatchObject({
    id: expect.stringMatching(/^tool_/),
    name: 'weather',
    type: 'http',
    version: 1,
    approval: 'never',
    handler: { method: 'POST', header_names: ['x-key'] },
    scopes: [],
    stats: { calls: 0, errors: 0, mean_ms: null, p95_ms: null },
  })
  expect((await api('GET', `${path}/${made.id}`)).body).toEqual(made)
  const { body: changed } = await api('PUT', `${path}/${made.id}`, {
    description: null,
    handler: { method: 'GET' },
  })
  expect(changed).toMatchObject({
    version: 2,
    description: null,
    handler: { method: 'GET', header_names: ['x-key'] },
  })
  const moved = await api('PUT', `${path}/${made.id}`, { handler: { url: 'https://elsewhere.example.com/' } })
  expect([moved.status, moved.body.error.param]).toEqual([403, 'handler.headers'])
  const { body: list } = await api('GET', path)
  expect(list).toMatchObject({ total: 1, tools: [{ name: 'weather' }] })
  expect(JSON.stringify([made, changed, list])).not.toContain('qxcredential')
  expect((await api('DELETE', `${path}/${made.id}`)).status).toBe(200)
  expect((await api('GET', `${path}/${made.id}`)).status).toBe(404)
})

test('a step uses a tool with arguments that match, and its credentials go to its address only', async () => {
  const tool = await register('send')
  await forge.make('uses', [use('send', 'send')])
  expect((await run('uses', { city: 'Lima' })).body).toMatchObject({ status: 'completed', output: '' })
  const [sent] = service.on('/send')
  expect([sent!.body, sent!.headers['x-key']]).toEqual(['{"city":"Lima"}', 'qxcredential'])
  const wrong = (await run('uses', { city: 3 })).body
  expect(wrong.error).toMatchObject({ step_id: 'send', code: 'arguments_invalid' })
  expect(JSON.stringify(await steps(wrong.id))).not.toContain('qxcredential')
  service.answer('/send', { status: 302, headers: { location: `${service.url}/other` } })
  expect((await run('uses', { city: 'Rome' })).body.error).toMatchObject({ code: 'http_status' })
  expect(service.on('/other')).toEqual([])
  const { body } = await api('GET', `${path}/${tool.id}`)
  expect(body.stats).toMatchObject({
    calls: 2,
    errors: 1,
    mean_ms: expect.any(Number),
    p95_ms: expect.any(Number),
  })
  expect(body.stats.p95_ms).toBeGreaterThan(0)
  await api('PUT', `${path}/${tool.id}`, { enabled: false })
  expect((await run('uses', { city: 'Rome' })).body.error).toMatchObject({ code: 'tool_missing' })
})

test('arguments go into the query where a tool is read', async () => {
  await register('look', { handler: { url: `${service.url}/look?v=1`, method: 'GET' } })
  await forge.make('looks', [use('look', 'look')])
  expect((await run('looks', { city: 'São & Co' })).body.status).toBe('completed')
  expect(new URL(service.received.at(-1)!.path, service.url).searchParams.get('city')).toBe('São & Co')
})

test('a person decides each use of a tool that says so', async () => {
  await register('pay', { approval: 'always' })
  await forge.make('pays', [
    use('refused', 'pay', { on_error: { action: 'continue' } }),
    use('pay', 'pay', { depends_on: ['refused'] }),
  ])
  const { body } = await run('pays', { city: 'Lima' })
  expect(body.status).toBe('waiting_human')
  const [asked] = await steps(body.id)
  expect(asked).toMatchObject({
    step_id: 'refused.approval',
    status: 'pending',
    input: { message: expect.stringContaining('Lima') },
  })
  expect(service.on('/pay')).toEqual([])
  const decide = (step_id: string, approved: boolean) => async () =>
    (await api('POST', `/api/forge/runs/${body.id}/approve`, { step_id, approved })).status
  await expect.poll(decide('refused.approval', false)).toBe(200)
  await expect.poll(decide('pay.approval', true), { timeout: 20_000 }).toBe(200)
  await expect.poll(async () => (await forge.read(body.id)).status, { timeout: 20_000 }).toBe('completed')
  expect(service.on('/pay')).toHaveLength(1)
  expect(await forge.read(body.id)).toMatchObject({ steps_completed: 2 })
})

test('a person who decides reads the arguments as they are sent, whatever is in their values', async () => {
  await register('transfer', { approval: 'always', schema: { type: 'object' } })
  const args = { memo: '{{input.memo}}', to: '{{input.to}}', all: '{{input.all}}' }
  await forge.make('transfers', [{ id: 'pay', type: 'tool', config: { tool: 'transfer', arguments: args } }])
  const input = { memo: 'rent","to":"alice"}?', to: '{{memo}} "x"\n', all: ['a', { b: 1 }] }
  const { body } = await run('transfers', input)
  const [asked] = await steps(body.id)
  expect(asked.input.message).toBe(`Use the tool transfer with ${JSON.stringify(input)}?`)
  await api('POST', `/api/forge/runs/${body.id}/approve`, { step_id: 'pay.approval' })
  await expect.poll(() => service.on('/transfer'), { timeout: 20_000 }).toHaveLength(1)
  expect(JSON.parse(String(service.on('/transfer')[0]!.body))).toEqual(input)
  const missing = await run('transfers', { memo: 'x' })
  expect(missing.body.error).toMatchObject({ code: 'missing_value' })
})

const requestsBy = (requests_by: 'admins' | 'everybody') =>
  forge.parts.gateway.kernel.registry.change('forge', { config: { requests_by } })

test('only what admins make sends requests, until an admin allows it to everybody', async () => {
  const { key } = await forge.parts.gateway.signUp('sends')
  const handler = { url: `${service.url}/inside` }
  const fetching = [{ id: 'get', type: 'http', config: { url: handler.url } }]
  const inside = [
    {
      id: 'all',
      type: 'parallel',
      config: { steps: { get: { type: 'http', config: { url: handler.url } } } },
    },
  ]
  const refusals = [
    await api('POST', path, { name: 'sends', handler }, key),
    await forge.save('sends', fetching, {}, key),
    await forge.save('sends', inside, {}, key),
  ]
  expect(refusals.map(({ status, body }) => [status, body.error.param])).toEqual([
    [403, 'type'],
    [403, 'steps.0.type'],
    [403, 'steps.0.config.steps.get.type'],
  ])
  await forge.make('for-all', fetching, { visibility: 'shared' })
  expect((await run('for-all', {}, {}, key)).body.status).toBe('completed')

  await requestsBy('everybody')
  const { body: tool } = await api('POST', path, { name: 'sends', handler }, key)
  await forge.make('sends', fetching, {}, key)
  await forge.make('uses', [{ id: 'a', type: 'tool', config: { tool: 'sends' } }], {}, key)
  for (const slug of ['sends', 'uses']) expect((await run(slug, {}, {}, key)).body.status).toBe('completed')
  await requestsBy('admins')
  expect((await run('uses', {}, {}, key)).body.error).toMatchObject({ code: 'forbidden' })
  expect((await run('sends', {}, {}, key)).status).toBe(403)
  expect((await api('PUT', `${path}/${tool.id}`, { handler }, key)).status).toBe(403)
  expect((await api('PUT', `${path}/${tool.id}`, { enabled: false }, key)).status).toBe(200)
})

test('users have their own tools and use those that are shared', async () => {
  const { gateway } = forge.parts
  await requestsBy('everybody')
  const ada = await gateway.signUp('ada-tools')
  const bob = await gateway.signUp('bob-tools')
  const shared = await register('everyone', { visibility: 'shared' })
  const mine = await register('mine', {}, ada.key)
  expect((await api('GET', `${path}/${mine.id}`, undefined, bob.key)).status).toBe(404)
  expect((await api('DELETE', `${path}/${mine.id}`, undefined, bob.key)).status).toBe(404)
  expect((await api('PUT', `${path}/${shared.id}`, { enabled: false }, bob.key)).status).toBe(403)
  expect(
    (await api('POST', path, { name: 'x', handler: { url: service.url }, visibility: 'shared' }, bob.key))
      .status,
  ).toBe(403)
  expect((await forge.save('bobs', [use('a', 'everyone')], {}, bob.key)).status).toBe(201)
  const foreign = await forge.save('bobs-2', [use('a', 'mine')], {}, bob.key)
  expect([foreign.status, foreign.body.error.param]).toEqual([400, 'steps.0.config.tool'])
  expect((await run('bobs', { city: 'Lima' }, {}, bob.key)).body.status).toBe('completed')
  await gateway.api('DELETE', `/api/auth/users/${ada.userId}`)
  expect((await api('GET', `${path}/${mine.id}`)).status).toBe(404)
})

test('a tool of admins is sent a secret of the operator, which nobody is shown', async () => {
  const url = `${service.url}/secret`
  const made = await register('secret', {
    handler: { url, auth_ref: 'TOOL_SEND', headers: { Authorization: 'own' } },
  })
  expect(made.handler).toMatchObject({ auth_ref: 'TOOL_SEND', auth_header: null })
  const { id } = await forge.make('secrets', [use('a', 'secret')])
  const run = await forge.run('secrets', { city: 'Lima' })
  expect(run.body.status).toBe('completed')
  expect(service.on('/secret').at(-1)!.headers.authorization).toBe('Bearer qxoperator')
  await api('PUT', `${path}/${made.id}`, { handler: { auth_header: 'X-Key' } })
  await forge.run('secrets', { city: 'Lima' })
  const { headers } = service.on('/secret').at(-1)!
  expect([headers['x-key'], headers.authorization]).toEqual(['qxoperator', 'own'])
  const { body: shown } = await api('GET', `${path}/${made.id}`)
  expect(JSON.stringify([made, id, run.body, shown, await steps(run.body.id)])).not.toContain('qxoperator')
  await api('PUT', `${path}/${made.id}`, { handler: { auth_ref: 'TOOL_ABSENT' } })
  const missing = (await forge.run('secrets', { city: 'Lima' })).body.error
  expect([missing.code, missing.message]).toEqual(['secret_missing', expect.stringContaining('TOOL_ABSENT')])
  const { body: cleared } = await api('PUT', `${path}/${made.id}`, {
    handler: { auth_ref: null, auth_header: null },
  })
  expect(cleared.handler).toMatchObject({ url, auth_ref: null, auth_header: null })
})

test('no tool of a user is sent a secret of the operator', async () => {
  await requestsBy('everybody')
  const { key } = await forge.parts.gateway.signUp('wants')
  const handler = { url: service.url, auth_ref: 'TOOL_SEND' }
  const refused = await api('POST', path, { name: 'wants', handler }, key)
  expect([refused.status, refused.body.error.param]).toEqual([403, 'handler.auth_ref'])
  const own = await register('wants', {}, key)
  for (const by of [key, undefined]) {
    const change = await api('PUT', `${path}/${own.id}`, { handler: { auth_ref: 'TOOL_SEND' } }, by)
    expect([change.status, change.body.error.param]).toEqual([403, 'handler.auth_ref'])
  }
})

test('a tool with scopes is used in runs of those that they name, of keys that took the place of theirs, and of admins', async () => {
  const { gateway } = forge.parts
  const ada = await gateway.signUp('ada-scope')
  const bob = await gateway.signUp('bob-scope')
  const { body: agent } = await api('POST', `/api/auth/users/${bob.userId}/keys`, { name: 'agent' })
  const tool = await register('scoped', { visibility: 'shared', scopes: [`user:${ada.userId}`] })
  await forge.make('scoped', [use('a', 'scoped')], { visibility: 'shared' })
  const codeOf = async (key?: string) => (await run('scoped', { city: 'Lima' }, {}, key)).body.error?.code
  expect([await codeOf(ada.key), await codeOf(), await codeOf(bob.key)]).toEqual([
    undefined,
    undefined,
    'forbidden',
  ])
  // What is refused in any case is asked of nobody.
  await api('PUT', `${path}/${tool.id}`, { approval: 'always' })
  expect(await codeOf(bob.key)).toBe('forbidden')
  await api('PUT', `${path}/${tool.id}`, { approval: 'never', scopes: [`key:${agent.id}`] })
  let { key, id } = agent
  for (const _ of ['first', 'second']) {
    const { body: rotated } = await api('POST', `/api/auth/users/${bob.userId}/keys/${id}/rotate`, {})
    expect(rotated.new_key).toEqual(expect.any(String))
    ;({ new_key: key, new_key_id: id } = rotated)
    expect([await codeOf(key), await codeOf(bob.key)]).toEqual([undefined, 'forbidden'])
  }
  await api('PUT', `${path}/${tool.id}`, { scopes: ['plan:nobody', 'tenant:none'] })
  expect(await codeOf(ada.key)).toBe('forbidden')
  await api('PUT', `${path}/${tool.id}`, { scopes: [] })
  expect(await codeOf(bob.key)).toBeUndefined()
})

test('trust policies decide whether a tool is used, a person is asked, or the use is refused', async () => {
  await register('order', { approval: 'policy', schema: { type: 'object' } })
  await forge.make('orders', [
    { id: 'pay', type: 'tool', config: { tool: 'order', arguments: { amount: '{{input.amount}}' } } },
  ])
  const policy = async (action: string, pattern: string, more: object = {}) => {
    const rules = [
      { field: 'tool.name', pattern: '^order$' },
      { field: 'tool_args', pattern },
    ]
    const { status, body } = await api('POST', '/api/trust/policies', {
      name: pattern,
      action,
      rules,
      ...more,
    })
    expect(status).toBe(201)
    return body.id
  }
  const asks = await policy('warn', '"amount":\\s*[0-9]{3}\\b')
  const blocks = await policy('block', '"amount":\\s*[0-9]{4,}')
  await policy('block', '"amount":\\s*7\\b', { mode: 'shadow' })
  await policy('log', '"amount":\\s*8\\b')
  // One about calls alone is none about tools.
  await api('POST', '/api/trust/policies', {
    name: 'calls',
    action: 'block',
    scope: { projects: ['elsewhere'] },
    rules: [{ field: 'model', pattern: '.', negate: true }],
  })
  for (const amount of [5, 7, 8]) expect((await run('orders', { amount })).body.status).toBe('completed')
  const refused = (await run('orders', { amount: 5000 })).body
  expect(refused.error).toMatchObject({ code: 'policy_violation', message: expect.stringContaining(blocks) })
  const { body } = await run('orders', { amount: 500 })
  expect(body.status).toBe('waiting_human')
  expect(service.on('/order')).toHaveLength(3)
  await api('POST', `/api/forge/runs/${body.id}/approve`, { step_id: 'pay.approval', approved: true })
  await expect.poll(async () => (await forge.read(body.id)).status, { timeout: 20_000 }).toBe('completed')
  expect(service.on('/order')).toHaveLength(4)
  const hits = async (id: string) => (await api('GET', `/api/trust/policies/${id}`)).body.hits_24h
  expect([await hits(asks), await hits(blocks)]).toEqual([1, 1])
  const ledger = async () =>
    (await api('GET', '/api/trust/ledger?event_type=policy.violated')).body.entries.map(
      ({ action, verdict, detail }: { action: string; verdict: string; detail: object }) => [
        action,
        verdict,
        detail,
      ],
    )
  await expect
    .poll(ledger)
    .toContainEqual(['warn', 'warn', expect.objectContaining({ run_id: body.id, field: 'tool_args' })])
  expect(JSON.stringify(await ledger())).not.toContain('500')
})

test.each([
  [{ handler: { url: 'https://example.com', auth_ref: 'OTHER' } }, 'handler.auth_ref'],
  [{ scopes: ['project:x'] }, 'scopes.0'],
  [{ handler: { url: 'file:///etc/passwd' } }, 'handler.url'],
  [{ handler: { url: 'https://user:key@example.com' } }, 'handler.url'],
  [{ schema: { type: 'thing' } }, 'schema'],
  [{ handler: { url: 'https://example.com', headers: { 'x-a': 'a\r\nb: c' } } }, 'handler.headers.x-a'],
  [{ type: 'function' }, 'type'],
  [{ secret: 'x' }, 'secret'],
])('what cannot be registered is refused with its field: %j', async (more, param) => {
  const { status, body } = await api('POST', path, {
    name: 'bad',
    handler: { url: 'https://example.com' },
    ...more,
  })
  expect([status, body.error.param]).toEqual([400, param])
})
