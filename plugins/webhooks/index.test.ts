import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { CircuitOpened } from '../upstream/kit/health.ts'
import { WebhookTest } from './test-event.ts'

/** Events of the proof beside a receiver that hangs; 10,000 by hand. */
const events = Number(process.env.WEBHOOK_EVENTS ?? 200)

let gateway: TestGateway
let receiver: Receiver
let paths = 0

beforeAll(async () => {
  receiver = await startReceiver()
  gateway = await startGateway({ config: { egress: { allow: ['127.0.0.1'] } } })
})

afterAll(async () => {
  await gateway.close()
  await receiver.close()
})

const api = (method: string, at = '', body?: object) => gateway.api(method, `/api/webhooks${at}`, body)

/** A webhook to a path of its own. */
async function subscribe(more: object = {}) {
  paths += 1
  const path = `/hook-${paths}`
  const body = { name: path, url: receiver.url + path, events: ['webhook.test'], ...more }
  const { status, body: made } = await api('POST', '', body)
  expect([status, made]).toEqual([201, expect.anything()])
  return { id: made.id as string, secret: made.secret as string, path }
}

const deliveriesOf = async (id: string) => (await api('GET', `/${id}/deliveries`)).body.deliveries
const newest = async (id: string) => (await deliveriesOf(id))[0]
const tryOut = async (id: string) =>
  (await api('POST', '/test', { webhook_id: id })).body.deliveries[0] as string

/** Has a delivery that waits tried now. */
async function hurry(delivery: string): Promise<void> {
  const { body } = await gateway.api('GET', '/api/jobs?kind=webhooks.delivery&limit=500')
  const job = body.jobs.find(({ id }: { id: string }) => id.includes(delivery))
  expect((await gateway.api('POST', `/api/jobs/${encodeURIComponent(job.id)}/retry`)).status).toBe(200)
}

const received = (path: string, count: number) =>
  expect.poll(() => receiver.on(path).length, { timeout: 10_000 }).toBe(count)

describe('a message', () => {
  test('has three fields, and a signature that the official library verifies', async () => {
    const { id, secret, path } = await subscribe({ headers: { authorization: 'Bearer theirs' } })
    const delivery = await tryOut(id)
    await received(path, 1)
    const [{ headers, body } = expect.fail('nothing came')] = receiver.on(path)
    const verified = new Webhook(secret).verify(body, headers as Record<string, string>) as object
    expect(verified).toEqual({
      event: 'webhook.test',
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      data: { message: 'This is a test.', webhook_id: id },
    })
    expect(Object.keys(JSON.parse(body))).toEqual(['event', 'timestamp', 'data'])
    expect(headers).toMatchObject({ 'webhook-id': delivery, authorization: 'Bearer theirs' })
    expect(headers['x-webhook-signature']).toMatch(/^sha256=[0-9a-f]{64}$/)
    expect(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>)).toThrow()
    await expect
      .poll(() => newest(id))
      .toMatchObject({ status: 'success', attempt: 1, retries: 0, response_status: 204 })
    await expect
      .poll(async () => (await api('GET', `/${id}/stats`)).body)
      .toMatchObject({
        total: 1,
        succeeded: 1,
        success_rate: 1,
        average_latency_ms: expect.any(Number),
        by_event: { 'webhook.test': { total: 1 } },
      })
  })

  test('is signed by the secret before, too, for a while', async () => {
    const { id, secret: first, path } = await subscribe()
    const { secret: second } = (await api('POST', `/${id}/rotate`, { grace_seconds: 60 })).body
    await tryOut(id)
    await received(path, 1)
    const [{ headers, body }] = receiver.on(path) as [(typeof receiver.received)[0]]
    for (const secret of [first, second]) new Webhook(secret).verify(body, headers as Record<string, string>)
    const { secret: third } = (await api('POST', `/${id}/rotate`, { grace_seconds: 0 })).body
    await tryOut(id)
    await received(path, 2)
    const last = receiver.on(path)[1]!
    new Webhook(third).verify(last.body, last.headers as Record<string, string>)
    expect(() => new Webhook(second).verify(last.body, last.headers as Record<string, string>)).toThrow()
  })

  test('shows no secret again, nor the values of headers', async () => {
    const { id, secret } = await subscribe({ headers: { 'x-token': 'theirs-alone' } })
    const shown = JSON.stringify([(await api('GET')).body, (await api('GET', `/${id}`)).body])
    expect(shown).toContain('x-token')
    for (const hidden of [secret, 'theirs-alone', 'enc:']) expect(shown).not.toContain(hidden)
  })
})

describe('attempts', () => {
  test('come 5, 30 and 300 seconds after a failure, with one id and the same bytes; then the webhook is failing', async () => {
    const { id, path } = await subscribe()
    receiver.answer(path, { status: 500 })
    const delivery = await tryOut(id)
    for (const [n, pause] of [5, 30, 300].entries()) {
      await received(path, n + 1)
      await expect.poll(async () => (await newest(id)).next_retry_at).not.toBeNull()
      await expect.poll(async () => (await newest(id)).attempt).toBe(n + 1)
      const { next_retry_at, updated_at, response_status } = await newest(id)
      expect(response_status).toBe(500)
      const waits = (Date.parse(next_retry_at) - Date.parse(updated_at)) / 1000
      expect(waits).toBeGreaterThanOrEqual(pause)
      expect(waits).toBeLessThan(pause * 1.05 + 2)
      await hurry(delivery)
    }
    await received(path, 4)
    await expect
      .poll(() => newest(id))
      .toMatchObject({ status: 'failed', attempt: 4, retries: 3, next_retry_at: null })
    expect((await api('GET', `/${id}`)).body).toMatchObject({
      status: 'failing',
      consecutive_failures: 1,
      enabled: true,
    })
    expect(new Set(receiver.on(path).map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([delivery]),
    )
    expect(new Set(receiver.on(path).map(({ body }) => body)).size).toBe(1)

    receiver.answer(path, { status: 200 })
    const again = await api('POST', `/${id}/deliveries/${delivery}/redeliver`)
    expect([again.status, again.body]).toEqual([
      202,
      expect.objectContaining({ id: delivery, status: 'pending' }),
    ])
    await received(path, 5)
    await expect.poll(() => newest(id)).toMatchObject({ status: 'success', attempt: 5 })
    expect((await api('GET', `/${id}`)).body).toMatchObject({ status: 'active', consecutive_failures: 0 })
  })

  test('wait as long as the receiver asks, and a redirect is a failure that is not followed', async () => {
    const { id, path } = await subscribe()
    const elsewhere = '/where-it-leads'
    receiver.answer(path, {
      status: 302,
      headers: { location: receiver.url + elsewhere, 'retry-after': '120' },
    })
    await tryOut(id)
    await expect.poll(async () => (await newest(id)).next_retry_at).not.toBeNull()
    const { next_retry_at, updated_at, error } = await newest(id)
    expect(Date.parse(next_retry_at) - Date.parse(updated_at)).toBeGreaterThanOrEqual(120_000)
    expect(error).toContain('302')
    expect(receiver.on(elsewhere)).toEqual([])
  })

  test('end when the webhook is switched off, deleted, or says that it is gone', async () => {
    const [off, deleted, gone] = [await subscribe(), await subscribe(), await subscribe()]
    for (const { path } of [off, deleted]) receiver.answer(path, { status: 503 })
    receiver.answer(gone.path, { status: 410 })
    const [first, second] = [await tryOut(off.id), await tryOut(deleted.id)]
    await tryOut(gone.id)
    for (const { path } of [off, deleted, gone]) await received(path, 1)
    await expect.poll(async () => (await newest(off.id)).next_retry_at).not.toBeNull()
    await expect.poll(async () => (await newest(deleted.id)).next_retry_at).not.toBeNull()
    await api('PUT', `/${off.id}`, { enabled: false })
    await hurry(first)
    expect((await api('DELETE', `/${deleted.id}`)).status).toBe(200)
    await hurry(second)
    await expect.poll(() => newest(off.id)).toMatchObject({ status: 'dropped' })
    await expect.poll(() => newest(gone.id)).toMatchObject({ status: 'failed', response_status: 410 })
    expect((await api('GET', `/${gone.id}`)).body).toMatchObject({ enabled: false, status: 'disabled' })
    expect((await api('GET', `/${deleted.id}`)).status).toBe(404)
    for (const { path } of [off, deleted, gone]) expect(receiver.on(path)).toHaveLength(1)
    expect((await api('POST', `/${gone.id}/enable`)).body).toMatchObject({ enabled: true, status: 'active' })
  })

  test('end when an admin cancels the job that would make the next one', async () => {
    const { id, path } = await subscribe()
    receiver.answer(path, { status: 503 })
    const delivery = await tryOut(id)
    await expect.poll(async () => (await newest(id)).next_retry_at).not.toBeNull()
    const { body } = await gateway.api('GET', '/api/jobs?kind=webhooks.delivery&limit=500')
    const job = body.jobs.find((one: { id: string }) => one.id.includes(delivery))
    await gateway.api('POST', `/api/jobs/${encodeURIComponent(job.id)}/cancel`)
    await expect.poll(() => newest(id)).toMatchObject({ status: 'dropped', next_retry_at: null })
    expect(receiver.on(path)).toHaveLength(1)
  })
})

test('a delivery that was dropped can be sent again as often as it takes', async () => {
  const { id, path } = await subscribe({ enabled: false })
  const delivery = await tryOut(id)
  const status = async () => (await newest(id)).status
  const again = async () => (await api('POST', `/${id}/deliveries/${delivery}/redeliver`)).status
  for (let n = 0; n < 2; n += 1) {
    await expect.poll(status).toBe('dropped')
    const one = { total: 1, succeeded: 0, failed: 0, dropped: 1 }
    const stats = { ...one, success_rate: null, last_24h: one, by_event: { 'webhook.test': one } }
    expect((await api('GET', `/${id}/stats`)).body).toMatchObject(stats)
    expect(await again()).toBe(202)
  }
  await expect.poll(status).toBe('dropped')
  await api('POST', `/${id}/enable`)
  expect(await again()).toBe(202)
  await received(path, 1)
})

test('of a webhook that is deleted meanwhile nothing is sent again', async () => {
  const { id } = await subscribe()
  const delivery = await tryOut(id)
  await expect.poll(() => newest(id)).toMatchObject({ status: 'success' })
  const again = () => api('POST', `/${id}/deliveries/${delivery}/redeliver`)
  const [deleted, ...asked] = await Promise.all([
    api('DELETE', `/${id}`),
    ...Array.from({ length: 20 }, again),
  ])
  expect(deleted.status).toBe(200)
  for (const { status } of asked) expect([202, 404, 409]).toContain(status)
  expect((await again()).status).toBe(404)
})

test('an address that is gone takes no other one with it', async () => {
  const { id, path } = await subscribe()
  const moved = createServer(async (_, response) => {
    await api('PUT', `/${id}`, { url: `${receiver.url}${path}` })
    response.writeHead(410).end()
  })
  await new Promise<void>((resolve) => moved.listen(0, '127.0.0.1', resolve))
  const { port } = moved.address() as AddressInfo
  await api('PUT', `/${id}`, { url: `http://127.0.0.1:${port}` })
  await tryOut(id)
  await expect.poll(() => newest(id)).toMatchObject({ status: 'failed', response_status: 410 })
  expect((await api('GET', `/${id}`)).body.enabled).toBe(true)
  await tryOut(id)
  await received(path, 1)
  moved.closeAllConnections()
  await new Promise((resolve) => moved.close(resolve))
})

test('the key of PagerDuty can be cleared where none is needed', async () => {
  const { id } = await subscribe({ format: 'pagerduty', routing_key: 'routing-key-1' })
  const refused = await api('PUT', `/${id}`, { routing_key: null })
  expect([refused.status, refused.body.error?.param]).toEqual([400, 'routing_key'])
  expect((await api('PUT', `/${id}`, { format: 'json', routing_key: null })).status).toBe(200)
  const { status, body } = await api('PUT', `/${id}`, { format: 'pagerduty' })
  expect([status, body.error?.param]).toEqual([400, 'routing_key'])
})

test('the key of PagerDuty is sent, and neither it nor the body is on the disk in the clear', async () => {
  const key = 'integration-key-of-theirs'
  const { id, path } = await subscribe({ format: 'pagerduty', routing_key: key })
  const delivery = await tryOut(id)
  await received(path, 1)
  const sent = JSON.parse(receiver.on(path)[0]!.body)
  expect(sent).toMatchObject({ routing_key: key, event_action: 'trigger' })
  await expect.poll(() => newest(id)).toMatchObject({ status: 'success' })
  const files = await readdir(gateway.dataDir, { recursive: true, withFileTypes: true })
  const contents = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(({ parentPath, name }) => readFile(`${parentPath}/${name}`, 'latin1').catch(() => '')),
  )
  expect(contents.filter((content) => content.includes(delivery))).not.toEqual([])
  for (const clear of [key, 'This is a test.'])
    expect(contents.filter((content) => content.includes(clear))).toEqual([])
})

describe('subscribers', () => {
  test('get an event once, under the name that they subscribed to', async () => {
    const wanted = [
      [['circuit_open'], 'circuit_open'],
      [['circuit.opened'], 'circuit.opened'],
      [['circuit_open', 'circuit.opened'], 'circuit.opened'],
      [['*'], 'circuit.opened'],
      [['circuit.*', 'circuit_open'], 'circuit.opened'],
      [['rate_limit_hit'], undefined],
    ] as const
    const hooks = await Promise.all(wanted.map(async ([names]) => subscribe({ events: names })))
    const data = { provider: 'openai', model: 'gpt-4o', reason: 'It failed.' }
    gateway.kernel.events.emit(CircuitOpened, data as never)
    for (const [i, [, name]] of wanted.entries()) {
      const named = () =>
        receiver
          .on(hooks[i]!.path)
          .map(({ body }) => JSON.parse(body).event)
          .filter((one) => one.startsWith('circuit'))
      await expect.poll(named).toEqual(name === undefined ? [] : [name])
    }
    for (const { id } of hooks) await api('DELETE', `/${id}`)
  })

  test('get what passes their filter', async () => {
    const { id, path } = await subscribe({ filter: { webhook_id: ['wanted'] } })
    for (const webhook_id of ['other', 'wanted'])
      gateway.kernel.events.emit(WebhookTest, { message: 'Hi', webhook_id })
    await received(path, 1)
    expect(JSON.parse(receiver.on(path)[0]!.body).data.webhook_id).toBe('wanted')
    await api('DELETE', `/${id}`)
  })

  test('that hang hold up nobody else', async () => {
    const [slow, fast] = [await subscribe(), await subscribe()]
    receiver.answer(slow.path, { hang: true })
    const sent = new Map<string, number>()
    for (let n = 0; n < events; n += 1) {
      const message = `Number ${n}`
      sent.set(message, performance.now())
      gateway.kernel.events.emit(WebhookTest, { message, webhook_id: null })
      if (n % 20 === 19) await pause(events > 1000 ? 100 : 0)
    }
    await expect.poll(() => receiver.on(fast.path).length, { timeout: 120_000 }).toBe(events)
    const took = receiver.on(fast.path).map(({ body, at }) => at - sent.get(JSON.parse(body).data.message)!)
    took.sort((a, b) => a - b)
    if (events > 1000) console.log(`p50 ${took[events >> 1]} ms, p99 ${took[Math.floor(events * 0.99)]} ms`)
    expect(receiver.on(slow.path).length).toBeGreaterThan(0)
    for (const { id } of [slow, fast]) await api('DELETE', `/${id}`)
  }, 180_000)
})

test('addresses inside are refused in every form, and nothing is sent', async () => {
  const closed = await startGateway({ config: { plugins: {} } })
  try {
    const port = receiver.port
    const hosts = [
      '127.0.0.1',
      '2130706433',
      '0x7f000001',
      '[::ffff:127.0.0.1]',
      '[::1]',
      'localhost',
      '169.254.169.254',
    ]
    for (const host of hosts) {
      const body = { name: host, url: `http://${host}:${port}/inside`, events: ['webhook.test'] }
      const made = await closed.api('POST', '/api/webhooks', body)
      expect(made.status).toBe(201)
      await closed.api('POST', '/api/webhooks/test', { webhook_id: made.body.id })
      const first = async () =>
        (await closed.api('GET', `/api/webhooks/${made.body.id}/deliveries`)).body.deliveries[0]
      await expect.poll(async () => (await first()).error).toContain('where plugins may not go')
      expect((await first()).response_status).toBeNull()
    }
    expect(receiver.on('/inside')).toEqual([])
  } finally {
    await closed.close()
  }
})

test('wrong settings are refused, naming the field', async () => {
  const good = { name: 'a', url: 'https://example.com/hook', events: ['*'] }
  const wrong: [object, string][] = [
    [{ ...good, url: 'ftp://example.com' }, 'url'],
    [{ ...good, url: 'https://me:word@example.com' }, 'url'],
    [{ ...good, url: 'https://:word@example.com' }, 'url'],
    [{ ...good, events: [] }, 'events'],
    [{ ...good, events: ['*', 'circuit_opne'] }, 'events.1'],
    [{ ...good, events: ['nothing.*'] }, 'events.0'],
    [{ ...good, format: 'pagerduty' }, 'routing_key'],
    [{ ...good, headers: { 'webhook-id': 'mine' } }, 'headers'],
    ...['Expect', 'Keep-Alive', 'Upgrade', 'TE', 'Trailer', 'Proxy-Connection'].map(
      (name): [object, string] => [{ ...good, headers: { [name]: 'x' } }, 'headers'],
    ),
    [{ ...good, headers: { 'X-Same': '1', 'x-same': '2' } }, 'headers'],
    [{ ...good, colour: 'red' }, 'colour'],
  ]
  for (const [body, param] of wrong) {
    const { status, body: said } = await api('POST', '', body)
    expect([param, status, String(said.error?.param)]).toEqual([param, 400, expect.stringContaining(param)])
  }
  const refusal = async (event: string) =>
    (await api('POST', '', { ...good, events: [event] })).body.error.message
  expect(await refusal('circuit_opne')).toContain('do you mean circuit_open?')
  expect(await refusal('xyzzy')).toContain('there is no event xyzzy. * stands for all.')
  const { key } = await gateway.signUp()
  expect((await gateway.api('GET', '/api/webhooks', undefined, key)).status).toBe(403)
  for (const events of [
    ['cost_threshold', 'upgrade.trace_milestone_*', 'guardrail.violation', 'trust_violation'],
    ['*'],
  ])
    expect((await api('POST', '', { ...good, enabled: false, events })).status).toBe(201)
})
