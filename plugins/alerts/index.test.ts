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

async function call(project: string, user = 'stays'): Promise<void> {
  const body = JSON.stringify({ model: 'gpt-4o-mini', user, messages: [{ role: 'user', content: 'Hello' }] })
  await ask(gateway, { path: '/v1/chat/completions', headers: { 'X-Project': project }, body })
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
    await expect
      .poll(async () => (await historyOf(rule.id))[0].deliveries.map((one: { status: string }) => one.status))
      .toEqual(['success', 'success', 'success', 'success'])
  }, 60_000)
})
