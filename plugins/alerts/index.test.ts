import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const path = '/api/observe/alerts'

let gateway: TestGateway
let upstream: Upstream
let receiver: Receiver
let projects = 0

beforeAll(async () => {
  receiver = await startReceiver()
  upstream = await startUpstream()
  const times = Number.POSITIVE_INFINITY
  upstream.reply({ text: '"user":"fails"' }, { status: 400, times })
  upstream.reply({ content: 'Hi', times })
  gateway = await startGateway({
    upstream,
    config: {
      egress: { allow: ['127.0.0.1'] },
      modules: { alertpulse: { config: { check_interval_s: 1 } } },
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await receiver.close()
})

const api = (method: string, at = '', body?: object) => gateway.api(method, path + at, body)

/** A project that no other test uses. */
function ownProject(): string {
  projects += 1
  return `project-${projects}`
}

async function call(project: string, user = 'stays', key = gateway.adminKey): Promise<void> {
  const body = JSON.stringify({ model: 'gpt-4o-mini', user, messages: [{ role: 'user', content: 'Hello' }] })
  await ask(gateway, {
    path: '/v1/chat/completions',
    headers: { 'X-Project': project, authorization: `Bearer ${key}` },
    body,
  })
}

async function add(rule: object): Promise<{ id: string; [field: string]: unknown }> {
  const { status, body } = await api('POST', '', {
    name: 'a rule',
    metric: 'error_rate',
    condition: 'gt',
    threshold: 0.5,
    ...rule,
  })
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}

const stateOf = async (id: string) => (await api('GET', `/${id}`)).body.state as string
const historyOf = async (id: string) => (await api('GET', `/history?alert_id=${id}`)).body.history
const becomes = (id: string, state: string) => expect.poll(() => stateOf(id), { timeout: 20_000 }).toBe(state)

describe('a rule', () => {
  test('loses none of the changes that come at the same time, and stays deleted', async () => {
    const { id } = await add({ enabled: false })
    const changes = [{ name: 'Renamed' }, { threshold: 0.75 }, { severity: 'critical' }]
    await Promise.all(changes.map((change) => api('PUT', `/${id}`, change)))
    expect((await api('GET', `/${id}`)).body).toMatchObject(Object.assign({}, ...changes))
    const [first, second] = await Promise.all([
      api('DELETE', `/${id}`),
      api('DELETE', `/${id}`),
      api('PUT', `/${id}`, { name: 'Back again' }),
    ])
    expect([first.status, second.status].sort()).toEqual([200, 404])
    expect((await api('GET', `/${id}`)).status).toBe(404)
  })

  test('fires once for many failed calls, tells one webhook, and resolves once', async () => {
    const project = ownProject()
    const rule = await add({
      filter: { project },
      window_seconds: 10,
      channels: [{ type: 'webhook', target: `${receiver.url}/burst` }, { type: 'log' }],
    })
    for (let n = 0; n < 20; n += 1) await call(project, 'fails')
    await becomes(rule.id, 'firing')
    await expect.poll(() => receiver.on('/burst').length, { timeout: 10_000 }).toBe(1)
    for (let n = 0; n < 30; n += 1) await call(project)
    await becomes(rule.id, 'ok')
    await expect.poll(() => receiver.on('/burst').length, { timeout: 10_000 }).toBe(2)
    const told = receiver.on('/burst').map(({ body }) => JSON.parse(body))
    expect(told.map(({ event, data }) => [event, data.state, data.alert_id])).toEqual([
      ['alert.fired', 'firing', rule.id],
      ['alert.resolved', 'ok', rule.id],
    ])
    const history = await historyOf(rule.id)
    expect(history).toHaveLength(1)
    expect(history[0]).toMatchObject({
      alert_id: rule.id,
      metric: 'error_rate',
      metric_value: 1,
      threshold: 0.5,
      condition: 'gt',
      group: null,
      state_to: 'firing',
      resolved_to: 'ok',
      resolved_at: expect.any(String),
    })
    const totalOf = async (query: string) => (await api('GET', `/history?${query}`)).body.total
    expect(await totalOf(`alert_id=${rule.id}&state=resolved`)).toBe(1)
    expect(await totalOf(`alert_id=${rule.id}&state=firing`)).toBe(0)
    expect(await totalOf('alert_id=al_none&state=resolved')).toBe(0)
    await expect
      .poll(async () => (await historyOf(rule.id))[0].deliveries.map((one: { status: string }) => one.status))
      .toEqual(['success', 'success', 'success', 'success'])
  }, 60_000)

  test('tells a webhook once that is its channel and has subscribed, and resolves when it is deleted', async () => {
    const project = ownProject()
    const hook = {
      name: 'both',
      url: `${receiver.url}/both`,
      events: ['alert.*'],
      filter: { rule_name: [project] },
    }
    const { body: webhook } = await gateway.api('POST', '/api/webhooks', hook)
    const channels = [{ type: 'webhook', target: webhook.id }]
    const rule = await add({
      name: project,
      metric: 'request_rate',
      threshold: 0,
      filter: { project },
      channels,
    })
    await call(project)
    await becomes(rule.id, 'firing')
    expect((await api('DELETE', `/${rule.id}`)).status).toBe(200)
    await expect.poll(() => receiver.on('/both').length, { timeout: 20_000 }).toBe(2)
    const told = receiver.on('/both').map(({ body }) => JSON.parse(body).event)
    expect(told).toEqual(['alert.fired', 'alert.resolved'])
  }, 60_000)

  test('in silence it fires in its history only, and what still fires afterwards is told', async () => {
    const project = ownProject()
    const channels = [{ type: 'webhook', target: `${receiver.url}/silence` }]
    const rule = await add({ metric: 'request_rate', threshold: 0, filter: { project }, channels })
    expect((await api('POST', `/${rule.id}/silence`, { seconds: 600 })).body.silenced_until).toEqual(
      expect.any(String),
    )
    await call(project)
    await becomes(rule.id, 'firing')
    expect((await historyOf(rule.id))[0].deliveries).toEqual([])
    expect((await api('DELETE', `/${rule.id}/silence`)).body.silenced_until).toBeNull()
    await expect.poll(() => receiver.on('/silence').length, { timeout: 20_000 }).toBe(1)
    const { body } = await api('POST', `/${rule.id}/acknowledge`, { note: 'on it' })
    expect(body.acknowledged).toHaveLength(1)
    expect((await historyOf(rule.id))[0]).toMatchObject({ note: 'on it', resolved_at: null })
  }, 60_000)
})

describe('a rule that tells of few calls resolves what it fires when a change takes the group out of it:', () => {
  const few = { metric: 'request_rate', condition: 'lt', threshold: 1000, min_samples: 0, window_seconds: 10 }

  test.each([
    ['other groups', { group_by: 'model' }],
    ['groups by the same field as its filter', { group_by: 'project' }],
  ])('%s', async (_, change) => {
    const filter = { project: ownProject() }
    const rule = await add({ ...few, filter, channels: [{ type: 'webhook', target: `${receiver.url}/few` }] })
    await becomes(rule.id, 'firing')
    const told = receiver.on('/few').length
    expect((await api('PUT', `/${rule.id}`, change)).status).toBe(200)
    await becomes(rule.id, 'no_data')
    const [entry, ...others] = await historyOf(rule.id)
    expect([entry, others]).toMatchObject([{ group: null, resolved_at: expect.any(String) }, []])
    await expect.poll(() => receiver.on('/few').length, { timeout: 10_000 }).toBeGreaterThan(told)
    await api('DELETE', `/${rule.id}`)
  })

  test('another filter', async () => {
    const [project, other] = [ownProject(), ownProject()]
    const rule = await add({ ...few, group_by: 'project', filter: { project: [project, other] } })
    await call(project)
    await becomes(rule.id, 'firing')
    await api('PUT', `/${rule.id}`, { filter: { project: other } })
    await becomes(rule.id, 'no_data')
    expect(await historyOf(rule.id)).toMatchObject([{ group: project, resolved_at: expect.any(String) }])
    await api('DELETE', `/${rule.id}`)
  })
})

test('what fires of a user is forgotten with the data of that user, and does not fire again', async () => {
  const project = ownProject()
  const [ada, bob] = await Promise.all([gateway.signUp('ada'), gateway.signUp('bob')])
  const channels = [{ type: 'webhook', target: `${receiver.url}/users` }]
  const filter = { project }
  const rule = await add({ metric: 'request_rate', threshold: 0, group_by: 'user', filter, channels })
  const groups = async () => (await historyOf(rule.id)).map(({ group }: { group: string }) => group).sort()
  for (const { key } of [ada, bob]) await call(project, 'stays', key)
  await expect.poll(groups, { timeout: 20_000 }).toEqual([ada.userId, bob.userId].sort())
  await expect.poll(() => receiver.on('/users').length, { timeout: 10_000 }).toBe(2)

  const erased = await gateway.api('DELETE', `/api/auth/users/${ada.userId}/data`)
  expect([erased.status, JSON.stringify(erased.body)]).toEqual([200, expect.stringContaining('"alerts":1')])
  await pause(3500)
  expect(await groups()).toEqual([bob.userId])
  expect(receiver.on('/users')).toHaveLength(2)
}, 60_000)

describe('the input', () => {
  const rule = { name: 'a rule', metric: 'error_rate', condition: '>=', threshold: 0.5 }

  test('may have symbols, a window as a text, and a single channel', async () => {
    const { body } = await api('POST', '', {
      ...rule,
      window: '24h',
      action: 'log',
      filter: { model: 'gpt-*' },
    })
    expect(body).toMatchObject({
      condition: 'gte',
      window_seconds: 86_400,
      cooldown_seconds: 86_400,
      channels: [{ type: 'log', target: null }],
      filter: { model: ['gpt-*'] },
      state: 'no_data',
    })
    const changed = await api('PUT', `/${body.id}`, { threshold: 0.7, filter: null })
    expect(changed.body).toMatchObject({ threshold: 0.7, filter: {}, window_seconds: 86_400 })
  })

  test.each([
    [{ bogus: 1 }, 'bogus'],
    [{ window: '5 minutes' }, 'window'],
    [{ channels: [{ type: 'log' }, { type: 'email', target: 'a@example.com' }] }, 'channels.1.type'],
    [{ channel: 'email', channel_config: { target: 'a@example.com' } }, 'channel'],
    [{ action: 'email' }, 'action'],
    [{ action: 'slack' }, 'channel_config'],
    [{ channels: [{ type: 'slack' }] }, 'channels.0.target'],
    [{ channels: [{ type: 'webhook', target: 'wh_none' }] }, 'channels.0.target'],
    [{ filter: { colour: 'red' } }, 'filter.colour'],
  ])('%j is refused with the name of its field', async (more, param) => {
    const { status, body } = await api('POST', '', { ...rule, ...more })
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('never shows the key of PagerDuty again, and keeps it when its end comes back', async () => {
    const channels = [{ type: 'pagerduty', target: 'key0123456789abcd' }]
    const { body } = await api('POST', '', { ...rule, channels })
    expect(body.channels).toEqual([{ type: 'pagerduty', target: '…abcd' }])
    const again = await api('PUT', `/${body.id}`, { channels: body.channels })
    expect([again.status, again.body.channels]).toEqual([200, body.channels])
  })

  test('is for admins only', async () => {
    const { key } = await gateway.signUp()
    expect((await gateway.api('GET', path, undefined, key)).status).toBe(403)
  })
})

test('a preview says when a rule would have fired, and stores nothing', async () => {
  const project = ownProject()
  await call(project)
  const rules = (await api('GET', '')).body.total
  const rule = {
    name: 'p',
    metric: 'request_rate',
    condition: '>',
    threshold: 0,
    window: '10s',
    filter: { project },
  }
  const preview = async () => (await api('POST', '/preview', { rule, hours: 0.1 })).body
  await expect.poll(async () => (await preview()).would_fire, { timeout: 20_000 }).toBe(1)
  expect((await preview()).firings[0]).toMatchObject({
    group: null,
    metric_value: 6,
    fired_at: expect.any(String),
  })
  expect((await api('GET', '')).body.total).toBe(rules)
})
