import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'

let folder: string
let receiver: Receiver
let gateway: TestGateway

const start = (SERVICE_ENCRYPTION_KEY: string) =>
  startGateway({
    dataDir: path.join(folder, 'data'),
    config: { egress: { allow: ['127.0.0.1'] } },
    env: { SERVICE_ENCRYPTION_KEY },
  })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-personal-'))
  receiver = await startReceiver()
  gateway = await start('the first key')
})

afterAll(async () => {
  await gateway.close()
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

test('a person can be erased though deliveries are encrypted under a key that is lost', async () => {
  const body = { name: 'all', url: `${receiver.url}/all`, events: ['*'] }
  const { id } = (await gateway.api('POST', '/api/webhooks', body)).body
  const { userId } = await gateway.signUp()
  await gateway.api('POST', '/api/webhooks/test', { webhook_id: id })
  await expect.poll(() => receiver.on('/all').length).toBeGreaterThan(0)
  await gateway.close()
  gateway = await start('another key')
  const deliveries = async () => (await gateway.api('GET', `/api/webhooks/${id}/deliveries`)).body
  expect((await deliveries()).total).toBeGreaterThan(0)
  const at = `/api/auth/users/${userId}/data`
  expect((await gateway.api('GET', at)).status).toBe(200)
  expect((await gateway.api('DELETE', at)).status).toBe(200)
  const left = (await deliveries()).deliveries.filter(
    ({ status }: { status: string }) => status === 'success',
  )
  expect(left).toEqual([])
})
