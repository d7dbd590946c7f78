import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

let gateway: ThreadedGateway
const at = '/api/modules/approvalgate/pending'

beforeAll(async () => {
  const config = { rules: [{ name: 'All', models: ['*'] }], wait_s: 60 }
  gateway = await startThreaded(3, { modules: { approvalgate: { enabled: true, config } } })
})

afterAll(() => gateway.close())

const send = () => gateway.chat({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })
const pending = async (): Promise<{ id: string }[]> => (await gateway.api('GET', at)).pending

test('reviewers see and decide the calls of all threads', async () => {
  const calls = Array.from({ length: 12 }, send)
  await expect.poll(async () => (await pending()).length, { timeout: 20_000 }).toBe(12)
  for (const [n, { id }] of (await pending()).entries())
    await gateway.api('POST', `${at}/${id}/${n < 8 ? 'approve' : 'deny'}`)
  const statuses = (await Promise.all(calls.map(({ answer }) => answer))).map(({ status }) => status)
  expect(statuses.sort()).toEqual([...Array(8).fill(200), ...Array(4).fill(403)])
  const left = send()
  await expect.poll(async () => (await pending()).length, { timeout: 20_000 }).toBe(1)
  left.request.destroy()
  await expect.poll(pending, { timeout: 20_000 }).toEqual([])
})
