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
  const config = { egress: { allow: ['127.0.0.1'] }, server: { threads: 2 } }
  await writeFile(path.join(folder, 'service.yaml'), stringify(config))
  gateway = await start()
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

const start = () =>
  startProcess({
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
  return response.json() as Promise<{
    id: string
    secret: string
    deliveries: { attempt: number; next_retry_at: string | null }[]
  }>
}

test('after kill -9 between two attempts the next one goes out as it fell due, with the same id, and is counted on', async () => {
  receiver.answer('/hook', { status: 500 })
  const { id, secret } = await api('POST', '', {
    name: 'a',
    url: `${receiver.url}/hook`,
    events: ['webhook.test'],
  })
  await api('POST', '/test', { webhook_id: id })
  const first = async () => (await api('GET', `/${id}/deliveries`)).deliveries[0]
  await expect.poll(async () => (await first())?.next_retry_at, { timeout: 10_000 }).toBeTruthy()
  const due = Date.parse((await first())!.next_retry_at!)
  await gateway.end('SIGKILL')
  expect(receiver.on('/hook')).toHaveLength(1)

  receiver.answer('/hook', { status: 200 })
  gateway = await start()
  await expect.poll(() => receiver.on('/hook').length, { timeout: 30_000 }).toBe(2)
  expect(Date.now()).toBeGreaterThanOrEqual(due)
  await expect.poll(first).toMatchObject({ status: 'success', attempt: 2 })
  const [one, two] = receiver.on('/hook')
  expect(two!.headers['webhook-id']).toBe(one!.headers['webhook-id'])
  expect(two!.body).toBe(one!.body)
  for (const { headers, body } of [one!, two!])
    new Webhook(secret).verify(body, headers as Record<string, string>)
}, 60_000)
