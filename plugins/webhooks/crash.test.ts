import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'

let folder: string
let receiver: Receiver
let gateway: GatewayProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-webhooks-'))
  receiver = await startReceiver()
  const config = { egress: { allow: ['127.0.0.1'] }, server: { threads: 2 }, auth: { admin_rpm: 100_000 } }
  await writeFile(path.join(folder, 'service.yaml'), stringify(config))
  gateway = await start()
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

/** Has a process take it to be that much later than it is. */
const laterBy = (ms: number): string =>
  `--import=data:text/javascript,${encodeURIComponent(
    `const now = Date.now.bind(Date); Date.now = () => now() + ${ms};
    globalThis.Date = new Proxy(Date, { construct: (Of, given) => given.length ? new Of(...given) : new Of(Of.now()) })`,
  )}`

const start = (aheadMs = 0) =>
  startProcess({
    ...(aheadMs > 0 && { NODE_OPTIONS: laterBy(aheadMs) }),
    SERVICE_CONFIG: path.join(folder, 'service.yaml'),
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_ADMIN_KEY: adminKey,
  })

async function api(method: string, at: string, body?: object) {
  const response = await fetch(`${gateway.url}/api/webhooks${at}`, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', connection: 'close' },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) expect.fail(`${response.status} ${await response.text()}\n${gateway.output()}`)
  return response.json() as Promise<{
    id: string
    secret: string
    deliveries: { id: string; attempt: number; next_retry_at: string | null }[]
  }>
}

test('after kill -9 in an attempt it is made again, and between two the next one goes out as it fell due, with one id, and is counted on', async () => {
  receiver.answer('/hook', { hang: true })
  const { id, secret } = await api('POST', '', {
    name: 'a',
    url: `${receiver.url}/hook`,
    events: ['webhook.test'],
  })
  await api('POST', '/test', { webhook_id: id })
  await expect.poll(() => receiver.on('/hook'), { timeout: 10_000 }).toHaveLength(1)
  await gateway.end('SIGKILL')
  const [{ headers }] = receiver.received.splice(0) as [(typeof receiver.received)[0]]
  receiver.answer('/hook', { status: 500 })
  gateway = await start()
  const first = async () => (await api('GET', `/${id}/deliveries`)).deliveries[0]
  const dueAfter = async (attempt: number) => {
    await expect
      .poll(first, { timeout: 30_000 })
      .toMatchObject({ attempt, next_retry_at: expect.any(String) })
    return Date.parse((await first())!.next_retry_at!)
  }
  const secondDue = await dueAfter(1)
  await gateway.end('SIGKILL')
  expect(receiver.on('/hook')).toHaveLength(1)

  gateway = await start()
  const thirdDue = await dueAfter(2)
  expect(Date.now()).toBeGreaterThanOrEqual(secondDue)
  expect(thirdDue - Date.now()).toBeGreaterThan(15_000)
  await gateway.end('SIGKILL')
  expect(receiver.on('/hook')).toHaveLength(2)

  receiver.answer('/hook', { status: 200 })
  gateway = await start(60_000)
  await expect.poll(first, { timeout: 10_000 }).toMatchObject({ status: 'success', attempt: 3 })
  const tries = [...receiver.on('/hook')]
  expect(tries).toHaveLength(3)
  expect(tries[0]!.headers['webhook-id']).toBe(headers['webhook-id'])
  for (const { headers, body } of tries) {
    expect([headers['webhook-id'], body]).toEqual([tries[0]!.headers['webhook-id'], tries[0]!.body])
    new Webhook(secret).verify(body, headers as Record<string, string>)
  }

  await api('POST', `/${id}/deliveries/${(await first())!.id}/redeliver`)
  await expect.poll(first, { timeout: 10_000 }).toMatchObject({ status: 'success', attempt: 4 })
}, 180_000)
