import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let here: TestGateway
let there: TestGateway

beforeAll(async () => {
  const config = {
    egress: { allow: ['127.0.0.1'] },
    secrets: {
      GATEWAY_STAGING: 'sy_admin_test_0123456789abcdefghijklmnop',
      GATEWAY_WRONG: 'MARKERwrong',
      OTHER: 'MARKERother',
    },
  }
  ;[here, there] = await Promise.all([startGateway({ config }), startGateway()])
})

afterAll(() => Promise.all([here.close(), there.close()]))

const api = (method: string, at: string, body?: object) => here.api(method, `/api/exchange/${at}`, body)
const stateOf = async (gateway: TestGateway) => (await gateway.api('GET', '/api/config')).body
const patch = async (gateway: TestGateway, body: object) =>
  expect((await gateway.api('POST', '/api/config', body)).status).toBe(200)
const rule = (name: string) => ({ name, pattern: name, action: 'log' })
const remote = (more: object = {}) => ({
  name: 'staging',
  kind: 'remote',
  url: there.url,
  auth_ref: 'GATEWAY_STAGING',
  ...more,
})
const sync = (direction: 'push' | 'pull', more: object = {}, name = 'staging') =>
  api('POST', `environments/${name}/sync`, { direction, ...more })
const lastSync = async () => (await api('GET', 'sync-log?limit=1')).body.syncs[0]

beforeEach(async () => {
  for (const { name } of (await api('GET', 'environments')).body.environments)
    await api('DELETE', `environments/${name}`)
  for (const gateway of [here, there]) {
    const { sections } = (await gateway.api('GET', '/api/config/export')).body
    const empty = Object.fromEntries(Object.keys(sections).map((name) => [name, {}]))
    await gateway.api('POST', '/api/config/import', {
      snapshot: { version: 1, sections: empty },
      mode: 'replace',
    })
  }
})

test('environments are added, shown, changed and deleted, and what could not be synced is refused', async () => {
  const made = await api('POST', 'environments', remote({ description: 'Before production' }))
  expect([made.status, made.body]).toMatchObject([201, { kind: 'remote', last_synced_at: null, config: {} }])
  expect((await api('POST', 'environments', remote())).status).toBe(409)
  const changed = await api('PUT', 'environments/staging', { description: null })
  expect(changed.body).toMatchObject({ description: '', url: there.url })
  expect((await api('GET', 'environments')).body.total).toBe(1)
  for (const [body, param] of [
    [remote({ name: 'b', url: null }), 'url'],
    [remote({ name: 'b', auth_ref: 'OTHER' }), 'auth_ref'],
    [remote({ name: 'b', auth_ref: null }), 'auth_ref'],
    [{ name: 'b', kind: 'local', url: there.url }, 'url'],
    [
      { name: 'b', kind: 'local', config: { providers: { x: { api_key: 'k' } } } },
      'config.providers.x.api_key',
    ],
    [{ name: 'B', kind: 'local' }, 'name'],
  ] as const) {
    const { status, body: answer } = await api('POST', 'environments', body)
    expect([status, answer.error.param.replace('content', 'config')]).toEqual([400, param])
  }
  expect((await api('DELETE', 'environments/staging')).body).toEqual({ deleted: true, id: 'staging' })
  expect((await sync('push')).status).toBe(404)
})

test('of a local environment it is shown how many keys a push would change', async () => {
  const config = { modules: { outputcap: { enabled: true } }, guardrails: { gr_a: rule('a') } }
  const made = await api('POST', 'environments', { name: 'night', kind: 'local', config })
  expect(made.body.drift).toEqual({ count: 2 })
  const before = await stateOf(here)
  const drift = async (name = 'night') => (await api('GET', `environments/${name}`)).body.drift
  await patch(here, { guardrails: { gr_a: rule('a') } })
  expect(await drift()).toEqual({ count: 1 })
  expect((await sync('push', { source: 'live' }, 'night')).body.status).toBe('applied')
  expect(await drift()).toEqual({ count: 0 })
  await patch(here, { guardrails: { gr_a: { action: 'block' } } })
  const { environments } = (await api('GET', 'environments')).body
  expect(environments).toMatchObject([{ name: 'night', drift: { count: 1 } }])
  expect((await stateOf(here)).generation).toBe(before.generation + 3)
  await api('PUT', 'environments/night', { config: { nowhere: { a: {} } } })
  expect(await drift()).toBeNull()
  expect((await api('POST', 'environments', remote())).body.drift).toBeNull()
  expect((await sync('push', { source: 'pack' }, 'night')).status).toBe(400)
})

test('a push makes the other gateway as this one, after a dry run that says so', async () => {
  await api('POST', 'environments', remote())
  await patch(here, { modules: { outputcap: { enabled: true } }, guardrails: { gr_a: rule('a') } })
  const before = await stateOf(there)
  const tried = await sync('push', { dry_run: true })
  expect(tried.body).toMatchObject({ status: 'dry_run', from_hash: before.hash, rollback_id: null })
  expect(tried.body.changes.map(({ path }: { path: string }) => path)).toEqual([
    'modules.outputcap',
    'guardrails.gr_a',
  ])
  expect(await stateOf(there)).toEqual(before)

  const done = await sync('push', { from_hash: tried.body.from_hash })
  expect(done.body).toMatchObject({
    status: 'applied',
    to_hash: tried.body.to_hash,
    rollback_id: before.generation,
  })
  const after = await stateOf(there)
  expect([after.hash, after.hash]).toEqual([tried.body.to_hash, (await stateOf(here)).hash])
  expect((await api('GET', 'environments/staging')).body).toMatchObject({
    current_generation: after.generation,
  })
  expect(await lastSync()).toMatchObject({
    status: 'applied',
    paths: ['modules.outputcap', 'guardrails.gr_a'],
  })
  expect((await api('GET', 'status')).body).toMatchObject({
    environments: 1,
    last_synced_at: done.body.synced_at,
  })

  const back = await there.api('POST', '/api/config/rollback', { generation: done.body.rollback_id })
  expect([back.status, (await stateOf(there)).hash]).toEqual([200, before.hash])
})

test('a push over what somebody else has changed there is 409, and passes once its hash is said', async () => {
  await api('POST', 'environments', remote())
  await patch(here, { guardrails: { gr_a: rule('a') } })
  await sync('push')
  await patch(there, { guardrails: { gr_theirs: rule('theirs') } })
  await patch(here, { guardrails: { gr_a: rule('b') } })
  const refused = await sync('push')
  const { hash } = await stateOf(there)
  expect([refused.status, refused.body.error.details]).toEqual([409, { hash }])
  expect(await lastSync()).toMatchObject({ status: 'conflict', paths: [] })
  expect((await sync('push', { from_hash: 'another' })).status).toBe(409)
  expect((await sync('push', { from_hash: hash })).status).toBe(200)
  expect((await sync('push')).body.changes).toEqual([])
})

test('a push whose answer was lost is recognised by the next one', async () => {
  let isCut = true
  const proxy = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { authorization = '' } = request.headers
    const answer = await fetch(there.url + request.url, {
      method: request.method!,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body && { body }),
    })
    const text = await answer.text()
    if (isCut && body.includes('"dry_run":false')) response.destroy()
    else response.writeHead(answer.status).end(text)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  await api('POST', 'environments', remote({ url: `http://127.0.0.1:${port}` }))
  await patch(here, { guardrails: { gr_a: rule('a') } })
  expect((await sync('push')).status).toBe(502)
  expect((await stateOf(there)).hash).toBe((await stateOf(here)).hash)
  expect(await lastSync()).toMatchObject({ status: 'failed' })
  isCut = false
  await patch(here, { guardrails: { gr_b: rule('b') } })
  expect((await sync('push')).body).toMatchObject({
    status: 'applied',
    changes: [{ path: 'guardrails.gr_b' }],
  })
  proxy.closeAllConnections()
  await new Promise((resolve) => proxy.close(resolve))
})

test('a push sends an export or a pack in place of what is set here, without secrets', async () => {
  const config = { guardrails: { gr_own: rule('own') } }
  await api('POST', 'environments', remote({ config }))
  await patch(here, { guardrails: { gr_a: rule('a') }, modules: { outputcap: { enabled: true } } })
  const { body: snapshot } = await here.api('GET', '/api/config/export')
  await patch(here, { guardrails: { gr_a: rule('later') } })
  const sent = await sync('push', { source: 'export', snapshot, sections: ['guardrails'] })
  expect([sent.status, sent.body.status]).toEqual([200, 'applied'])
  const first = await stateOf(there)
  expect([first.guardrails.gr_a.name, first.guardrails.gr_own.name, first.modules]).toEqual(['a', 'own', {}])

  const pack = await api('POST', 'packs', {
    slug: 'promoted',
    name: 'Promoted',
    version: '1.0.0',
    variables: { word: {} },
    content: {
      guardrails: { gr_p: rule('{{word}}') },
      providers: {
        p: { type: 'openai', base_url: 'https://p.example.com/v1', api_key: { secret: 'OTHER' } },
      },
    },
  })
  expect(pack.status).toBe(201)
  const promoted = { slug: 'promoted', variables: { word: 'theirs' } }
  const pushed = await sync('push', { source: 'pack', pack: promoted })
  expect([pushed.status, pushed.body.rollback_id]).toEqual([200, first.generation])
  const after = await stateOf(there)
  expect([after.guardrails.gr_p.name, after.guardrails.gr_a.name]).toEqual(['theirs', 'a'])
  expect([after.providers.p.base_url, JSON.stringify(after)]).toEqual([
    'https://p.example.com/v1',
    expect.not.stringContaining('MARKERother'),
  ])
  expect(after.key_status?.p ?? 'none').not.toBe('stored')
  expect((await stateOf(here)).guardrails.gr_p).toBeUndefined()

  await api('POST', 'environments', { name: 'night', kind: 'local', config })
  const key = { providers: { p: { type: 'openai', base_url: 'https://p.example.com/v1', api_key: 'sk-x' } } }
  for (const [wrong, param, at, direction] of [
    [{ source: 'pack' }, 'pack'],
    [{ source: 'export' }, 'snapshot'],
    [{ pack: promoted }, 'pack'],
    [{ source: 'pack', pack: { slug: 'promoted' } }, 'pack.variables.word'],
    [{ source: 'pack', pack: promoted }, 'source', 'night'],
    [{ source: 'export', snapshot }, 'source', 'staging', 'pull'],
    [{ source: 'export', snapshot: { version: 1, sections: key } }, 'content.providers.p.api_key'],
  ] as const) {
    const { status, body } = await sync(direction ?? 'push', wrong, at)
    expect([status, body.error.param]).toEqual([400, param])
  }
  expect((await sync('push', { source: 'pack', pack: { slug: 'absent' } })).status).toBe(404)
  await api('DELETE', 'packs/promoted')
})

test('what an environment has of its own is set on top of a push', async () => {
  const config = { guardrails: { gr_a: rule('staging'), gr_own: rule('own') } }
  await api('POST', 'environments', remote({ config }))
  await patch(here, { guardrails: { gr_a: rule('a') }, modules: { outputcap: { enabled: true } } })
  await sync('push', { sections: ['guardrails'] })
  const { guardrails, modules } = await stateOf(there)
  expect([guardrails.gr_a.name, Object.keys(guardrails).sort(), modules]).toEqual([
    'staging',
    ['gr_a', 'gr_own'],
    {},
  ])
})

test('a pull sets here what is set there, and no secret of this gateway can be named there', async () => {
  await api('POST', 'environments', remote())
  await patch(there, { guardrails: { gr_a: rule('theirs') } })
  const { generation } = await stateOf(here)
  const { body } = await sync('pull')
  expect(body).toMatchObject({ status: 'applied', rollback_id: generation })
  expect((await stateOf(here)).hash).toBe((await stateOf(there)).hash)
  expect((await sync('pull', { from_hash: 'another' })).status).toBe(409)

  const provider = { type: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: { secret: 'OTHER' } }
  const stranger = createServer((_, response) =>
    response.end(JSON.stringify({ hash: 'x', sections: { providers: { p: provider } } })),
  )
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
  const { port } = stranger.address() as AddressInfo
  await api('PUT', 'environments/staging', { url: `http://127.0.0.1:${port}` })
  expect((await sync('pull')).status).toBe(400)
  expect((await stateOf(here)).providers).toEqual({})
  stranger.closeAllConnections()
  await new Promise((resolve) => stranger.close(resolve))
})

test('a local environment sets what it has, and takes in what is set', async () => {
  const config = {
    modules: { outputcap: { enabled: true, config: { default_max_tokens: 5 } } },
    guardrails: { gr_gone: null },
  }
  await patch(here, { guardrails: { gr_gone: rule('gone'), gr_kept: rule('kept') } })
  expect((await api('POST', 'environments', { name: 'night', kind: 'local', config })).status).toBe(201)
  expect((await sync('push', {}, 'night')).body.status).toBe('applied')
  const { modules, guardrails } = await stateOf(here)
  expect([modules, Object.keys(guardrails)]).toEqual([config.modules, ['gr_kept']])
  await patch(here, { modules: { outputcap: { config: { default_max_tokens: 6 } } } })
  expect((await sync('pull', {}, 'night')).body.changes).toHaveLength(1)
  expect((await api('GET', 'environments/night')).body.config).toEqual({
    modules: { outputcap: { enabled: true, config: { default_max_tokens: 6 } } },
    guardrails: { gr_gone: null },
  })
})

test('a local environment takes nothing in while a section of its own is not there', async () => {
  const config = { guardrails: { gr_one: rule('one') } }
  await api('POST', 'environments', { name: 'off', kind: 'local', config })
  const toggle = (enabled: boolean) =>
    Promise.all([
      here.module('guardrail', { enabled }),
      here.api('PUT', '/api/plugins/guardrails', { enabled }),
    ])
  await toggle(false)
  expect((await sync('pull', {}, 'off')).status).toBe(400)
  expect((await api('GET', 'environments/off')).body.config).toEqual(config)
  await toggle(true)
})

test('a gateway that is gone, refuses the key or is none is 502, is in the log, and its key is nowhere', async () => {
  await api('POST', 'environments', remote({ auth_ref: 'GATEWAY_WRONG' }))
  const refused = await sync('push')
  expect([refused.status, refused.body.error.message]).toEqual([
    502,
    expect.stringMatching(/^staging answered 401/),
  ])
  await api('PUT', 'environments/staging', { url: 'http://127.0.0.1:9' })
  const gone = await sync('push')
  expect([gone.status, gone.body.error.message]).toEqual([502, expect.stringMatching(/cannot be reached/)])
  expect(await lastSync()).toMatchObject({ status: 'failed', problem: gone.body.error.message })
  await api('PUT', 'environments/staging', { auth_ref: 'GATEWAY_ABSENT' })
  expect((await sync('push')).status).toBe(409)
  const told = [(await api('GET', 'sync-log')).body, (await api('GET', 'environments')).body, here.logged]
  expect(JSON.stringify(told)).not.toMatch(/MARKER/)
})
