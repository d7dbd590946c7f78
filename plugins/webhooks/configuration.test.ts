import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'

/** Webhooks as a section of the configuration, and in packs. */

let here: TestGateway
let there: TestGateway
let receiver: Receiver
let paths = 0

beforeAll(async () => {
  receiver = await startReceiver()
  const config = { egress: { allow: ['127.0.0.1'] }, secrets: { PAGER: 'MARKERSECRETpager' } }
  ;[here, there] = await Promise.all([startGateway({ config }), startGateway({ config })])
})

afterAll(async () => {
  await Promise.all([here.close(), there.close()])
  await receiver.close()
})

afterEach(async () => {
  for (const gateway of [here, there]) await take({ webhooks: {}, alerts: {} }, { mode: 'replace' }, gateway)
})

const marker = 'MARKERSECRET'

const whole = async (gateway = here) => (await gateway.api('GET', '/api/config')).body
const exported = async (gateway = here) => (await gateway.api('GET', '/api/config/export')).body
const formOf = async (id: string, gateway = here) => (await exported(gateway)).sections.webhooks[id]
const patch = (body: object) => here.api('POST', '/api/config', body)
const take = (sections: object, more: object = {}, gateway = here) =>
  gateway.api('POST', '/api/config/import', { snapshot: { version: 1, sections }, ...more })
const rollback = (generation: number) => here.api('POST', '/api/config/rollback', { generation })
const hook = (id: string, gateway = here) => gateway.api('GET', `/api/webhooks/${id}`)
const form = (path: string) => ({ name: path, url: receiver.url + path, events: ['webhook.test'] })

/** A webhook to a path of its own. */
async function subscribe(more: object = {}) {
  paths += 1
  const path = `/configured-${paths}`
  const { status, body } = await here.api('POST', '/api/webhooks', { ...form(path), ...more })
  expect([status, body]).toEqual([201, expect.anything()])
  return { id: body.id as string, secret: body.secret as string, path }
}

/** The next message that a webhook gets, which this secret has to verify. */
async function verified(id: string, path: string, secret: string, gateway = here) {
  const before = receiver.on(path).length
  await gateway.api('POST', '/api/webhooks/test', { webhook_id: id })
  await expect.poll(() => receiver.on(path).length).toBe(before + 1)
  const { body, headers } = receiver.on(path).at(-1)!
  new Webhook(secret).verify(body, headers as Record<string, string>)
  return headers
}

test('what is exported here makes the same webhooks elsewhere, with secrets of their own that a rotation shows', async () => {
  const headers = { authorization: `Bearer ${marker}` }
  const { id, secret, path } = await subscribe({ headers, filter: { severity: ['critical'] } })
  const snapshot = await exported()
  expect(snapshot.sections.webhooks[id]).toEqual({
    ...form(path),
    enabled: true,
    format: 'json',
    filter: { severity: ['critical'] },
  })
  expect(snapshot.secrets).toEqual([`webhooks.${id}.headers`, `webhooks.${id}.secret`])

  const { body } = await there.api('POST', '/api/config/import', { snapshot })
  expect(body.applied).toEqual([`webhooks.${id}`])
  expect(body.warnings).toEqual([
    expect.stringContaining(`webhooks.${id}.headers is a secret`),
    expect.stringContaining(`webhooks.${id}.secret is a secret`),
  ])
  expect(await exported(there)).toMatchObject({
    hash: snapshot.hash,
    sections: snapshot.sections,
    secrets: [],
  })
  expect((await hook(id, there)).body).toMatchObject({ status: 'active', headers: [], secret_shown: false })
  const rotated = (await there.api('POST', `/api/webhooks/${id}/rotate`, { grace_seconds: 0 })).body
  expect([rotated.secret_shown, rotated.secret === secret]).toEqual([true, false])
  await verified(id, path, rotated.secret, there)
  const again = await there.api('POST', '/api/config/import', { snapshot })
  expect([again.body.applied, again.body.warnings]).toEqual([
    [],
    [expect.stringContaining(`webhooks.${id}.headers`)],
  ])
  await verified(id, path, rotated.secret, there)
})

test('a document leaves the secrets that it does not have, sets those that it brings, and shows none', async () => {
  const { id, secret, path } = await subscribe({ headers: { 'x-token': `${marker}-1` } })
  const renamed = await take({ webhooks: { [id]: { ...(await formOf(id)), name: 'renamed' } } })
  expect(renamed.body.applied).toEqual([`webhooks.${id}`])
  expect(await verified(id, path, secret)).toMatchObject({ 'x-token': `${marker}-1` })

  const headers = { 'x-token': `${marker}-2` }
  const brought = [await patch({ webhooks: { [id]: { headers } } })]
  expect(brought[0]!.body.applied).toEqual([`webhooks.${id}`])
  expect(await verified(id, path, secret)).toMatchObject({ 'x-token': `${marker}-2` })
  expect((await patch({ webhooks: { [id]: { headers } } })).body.applied).toEqual([])

  expect((await patch({ webhooks: { [id]: { headers: null } } })).body.applied).toEqual([`webhooks.${id}`])
  expect(await verified(id, path, secret)).not.toHaveProperty('x-token')

  const paged = { format: 'pagerduty', routing_key: `${marker}-3` }
  brought.push(await patch({ webhooks: { [id]: paged } }))
  expect((await exported()).secrets).toEqual([`webhooks.${id}.routing_key`, `webhooks.${id}.secret`])
  const cleared = await patch({ webhooks: { [id]: { routing_key: null } } })
  expect([cleared.status, cleared.body.error.param]).toEqual([400, `webhooks.${id}.routing_key`])
  await verified(id, path, secret)
  expect(JSON.parse(receiver.on(path).at(-1)!.body).routing_key).toBe(`${marker}-3`)

  const history = (await here.api('GET', '/api/config/history?limit=100')).body
  for (const hidden of [marker, secret, 'enc:'])
    expect(JSON.stringify([brought, await whole(), await exported(), history, here.logged])).not.toContain(
      hidden,
    )
})

test('what a wrong item lacks is told with its name and field, and nothing changes', async () => {
  const { id } = await subscribe()
  const before = await whole()
  const good = form('/x')
  for (const [key, wrong, param] of [
    ['wh_x', { ...good, url: 'ftp://example.com' }, 'webhooks.wh_x.url'],
    ['wh_x', { ...good, events: ['circuit_opne'] }, 'webhooks.wh_x.events.0'],
    ['wh_x', { ...good, format: 'pagerduty' }, 'webhooks.wh_x.routing_key'],
    ['wh_x', { ...good, headers: { 'webhook-id': 'mine' } }, 'webhooks.wh_x.headers'],
    ['wh_x', { ...good, colour: 'red' }, 'webhooks.wh_x'],
    ['wh_x', { ...good, name: undefined }, 'webhooks.wh_x.name'],
    ['wh_x', 'none', 'webhooks.wh_x'],
    ['w x', good, 'webhooks.w x'],
    [id, { ...good, secret: 'whsec_abc' }, `webhooks.${id}.secret`],
  ] as const) {
    const { status, body } = await take({ webhooks: { wh_good: good, [key]: wrong } })
    expect([status, body.error?.param]).toEqual([400, param])
  }
  const refused = await take({ webhooks: { wh_x: { ...good, events: ['circuit_opne'] } } })
  expect(refused.body.error.message).toContain('do you mean circuit_open?')
  expect(await whole()).toEqual(before)
})

test('a rollback brings back what was said, with the secret, and leaves what was rotated and what came of deliveries', async () => {
  const { generation } = await whole()
  const { id, secret, path } = await subscribe({ headers: { 'x-team': 'one' } })
  const made = await whole()
  expect(made.generation).toBe(generation + 1)
  await here.api('PUT', `/api/webhooks/${id}`, { name: 'other', headers: null })
  receiver.answer(path, { status: 410 })
  await here.api('POST', '/api/webhooks/test', { webhook_id: id })
  await expect.poll(async () => (await hook(id)).body.status).toBe('disabled')
  expect((await hook(id)).body.enabled).toBe(false)
  expect([(await formOf(id)).enabled, (await whole()).generation]).toEqual([true, generation + 2])
  const rotated = (await here.api('POST', `/api/webhooks/${id}/rotate`, { grace_seconds: 0 })).body.secret

  expect((await rollback(made.generation)).status).toBe(200)
  expect((await whole()).hash).toBe(made.hash)
  expect((await hook(id)).body).toMatchObject({ name: path, status: 'disabled', headers: ['x-team'] })
  receiver.answer(path, {})
  const enabled = (await here.api('POST', `/api/webhooks/${id}/enable`)).body
  expect([enabled.status, enabled.enabled]).toEqual(['active', true])
  expect(await verified(id, path, rotated)).toMatchObject({ 'x-team': 'one' })

  const last = await whole()
  await here.api('DELETE', `/api/webhooks/${id}`)
  expect((await hook(id)).status).toBe(404)
  await rollback(last.generation)
  expect((await hook(id)).body).toMatchObject({ status: 'active', secret_shown: true })
  await verified(id, path, rotated)

  await rollback(generation)
  expect((await hook(id)).status).toBe(404)
  expect(secret).not.toBe(rotated)
})

test('switching on and off is in the history, and forgets failures', async () => {
  const { id, path } = await subscribe()
  receiver.answer(path, { status: 410 })
  const gone = async () => {
    await here.api('POST', '/api/webhooks/test', { webhook_id: id })
    await expect.poll(async () => (await hook(id)).body.status).toBe('disabled')
  }
  await gone()
  const { generation } = await whole()
  const put = async (enabled: boolean) => (await here.api('PUT', `/api/webhooks/${id}`, { enabled })).body
  expect(await put(true)).toMatchObject({ enabled: true, status: 'active' })
  await gone()
  expect(await put(false)).toMatchObject({ enabled: false, status: 'disabled' })
  expect((await formOf(id)).enabled).toBe(false)
  const on = await patch({ webhooks: { [id]: { enabled: true } } })
  expect(on.body.applied).toEqual([`webhooks.${id}`])
  expect((await hook(id)).body).toMatchObject({ enabled: true, status: 'active', consecutive_failures: 0 })
  await gone()
  const same = await patch({ webhooks: { [id]: { enabled: true } } })
  expect([same.body.applied, (await hook(id)).body.enabled]).toEqual([[], false])
  expect((await whole()).generation).toBe(generation + 3)
})

test('of changes at a time each adds to the one before', async () => {
  const { id } = await subscribe()
  const filters = Array.from({ length: 5 }, (_, n) => ({ [`f${n}`]: [n] }))
  const put = (body: object) => here.api('PUT', `/api/webhooks/${id}`, body)
  const all = await Promise.all([
    put({ name: 'new' }),
    ...filters.map((filter) => patch({ webhooks: { [id]: { filter } } })),
    put({ events: ['*'] }),
    patch({ webhooks: { [id]: { format: 'slack' } } }),
  ])
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
  const filter = { f0: [0], f1: [1], f2: [2], f3: [3], f4: [4] }
  expect(await formOf(id)).toMatchObject({ name: 'new', events: ['*'], format: 'slack', filter })
})

test('an alert and the webhook that it tells come in one document, and the webhook does not go before it', async () => {
  const { id } = await subscribe()
  const alert = {
    name: 'page',
    metric: 'error_rate',
    condition: '>',
    threshold: 0.5,
    channels: [{ type: 'webhook', target: id }],
  }
  expect((await here.api('POST', '/api/observe/alerts', alert)).status).toBe(201)
  const { sections } = await exported()
  const [al] = Object.keys(sections.alerts)
  const alone = await take({ alerts: sections.alerts }, {}, there)
  const field = `alerts.${al}.channels.0.target`
  expect([alone.status, alone.body.error.param]).toEqual([400, field])
  const both = await take({ alerts: sections.alerts, webhooks: sections.webhooks }, {}, there)
  expect(both.body.applied.sort()).toEqual([`alerts.${al}`, `webhooks.${id}`])
  const cleared = await take({ webhooks: { [id]: null } }, {}, there)
  expect([cleared.status, cleared.body.error.param]).toEqual([409, `alerts.${al}`])
  expect((await take({ webhooks: { [id]: null }, alerts: { [al!]: null } }, {}, there)).status).toBe(200)
})

test('a webhook that a plugin keeps is in no document, and none takes its place', async () => {
  const alert = { name: 'now', metric: 'request_rate', condition: '>=', threshold: 0 }
  const channels = [{ type: 'slack', target: `${receiver.url}/kept` }]
  await here.api('POST', '/api/observe/alerts', { ...alert, channels })
  const body = { model: 'mock/echo', messages: [{ role: 'user', content: 'Hello' }] }
  await here.api('POST', '/v1/chat/completions', body)
  const keptOne = async () =>
    (await here.api('GET', '/api/webhooks')).body.webhooks.find((one: { owner: string }) => one.owner)
  await expect.poll(keptOne, { timeout: 15_000 }).toBeDefined()
  const { id } = await keptOne()
  const before = await whole()
  expect(before.webhooks).toEqual({})
  const refused = await take({ webhooks: { [id]: form('/mine') } })
  expect([refused.status, refused.body.error.param]).toEqual([400, `webhooks.${id}`])
  const off = await here.api('PUT', `/api/webhooks/${id}`, { enabled: false })
  expect([off.body.enabled, (await whole()).generation]).toEqual([false, before.generation])
}, 20_000)

test('with a webhook that a document clears go its deliveries', async () => {
  const { id, path, secret } = await subscribe()
  await verified(id, path, secret)
  const form = await formOf(id)
  const shown = async () => (await here.api('GET', `/api/webhooks/${id}/deliveries`)).body
  expect((await shown()).deliveries).toHaveLength(1)
  await patch({ webhooks: { [id]: null } })
  await take({ webhooks: { [id]: form } })
  await expect.poll(async () => (await shown()).deliveries).toEqual([])
})

test('a pack brings a webhook, names its key, is updated, drifts, and goes', async () => {
  const pack = (method: string, at: string, body?: object) => here.api(method, `/api/exchange/${at}`, body)
  const hooks = {
    wh_team: { ...form('/pack'), name: 'For {{team}}' },
    wh_page: { ...form('/page'), format: 'pagerduty', routing_key: { secret: 'PAGER' } },
  }
  const first = { version: '1.0.0', content: { webhooks: hooks }, variables: { team: { default: 'all' } } }
  for (const [field, value] of [
    ['headers', { a: 'b' }],
    ['routing_key', 'plain'],
    ['secret', 'whsec_plain'],
  ] as const) {
    const content = { webhooks: { wh_team: { ...form('/pack'), [field]: value } } }
    const { status, body } = await pack('POST', 'packs', { ...first, slug: 'bad', name: 'bad', content })
    expect([status, body.error.param]).toEqual([400, `content.webhooks.wh_team.${field}`])
  }
  const before = await whole()
  expect((await pack('POST', 'packs', { ...first, slug: 'hooks', name: 'hooks' })).status).toBe(201)
  const preview = (await pack('GET', 'packs/hooks/preview')).body
  expect(preview.changes.map(({ key, action }: { key: string; action: string }) => [key, action])).toEqual([
    ['wh_team', 'create'],
    ['wh_page', 'create'],
  ])
  expect(preview.warnings).toEqual([
    expect.stringContaining('webhooks.wh_team'),
    expect.stringContaining('webhooks.wh_page'),
  ])
  const installed = await pack('POST', 'packs/hooks/install', { variables: { team: 'docs' } })
  expect([installed.status, installed.body.applied]).toEqual([200, { webhooks: 2 }])
  expect((await hook('wh_team')).body).toMatchObject({ name: 'For docs', secret_shown: false })
  await here.api('POST', '/api/webhooks/test', { webhook_id: 'wh_page' })
  await expect.poll(() => receiver.on('/page').length).toBe(1)
  expect(JSON.parse(receiver.on('/page')[0]!.body).routing_key).toBe(`${marker}pager`)
  const item = async () => (await pack('GET', 'installed')).body.installed[0]
  const again = await pack('POST', 'packs/hooks/install', { variables: { team: 'docs' } })
  expect([again.body.applied, (await item()).drift]).toEqual([{}, false])

  const next = { wh_team: { ...form('/pack'), events: ['*'] }, wh_page: hooks.wh_page }
  await pack('POST', 'packs/hooks/versions', { version: '1.1.0', content: { webhooks: next } })
  expect((await pack('POST', 'packs/hooks/install')).body.applied).toEqual({ webhooks: 1 })
  expect((await hook('wh_team')).body.events).toEqual(['*'])
  await here.api('PUT', '/api/webhooks/wh_team', { name: 'mine' })
  expect((await item()).drift).toBe(true)
  const gone = await pack('DELETE', `installed/${installed.body.id}`)
  expect([gone.body.restored, gone.body.left]).toEqual([['webhooks.wh_page'], ['webhooks.wh_team']])
  await patch({ webhooks: { wh_team: null } })
  expect((await whole()).hash).toBe(before.hash)
  const said = [preview, installed.body, (await here.api('GET', '/api/config/history?limit=100')).body]
  expect(JSON.stringify([said, here.logged])).not.toContain(marker)
})
