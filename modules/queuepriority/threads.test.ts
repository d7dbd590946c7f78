import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

let gateway: ThreadedGateway

beforeAll(async () => {
  const queuepriority = { enabled: true, config: { concurrency: { openai: 2 } } }
  gateway = await startThreaded(3, { modules: { queuepriority } })
})

afterAll(() => gateway.close())

const send = () => gateway.chat({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })

const queues = async (): Promise<{ running: number; waiting: number }[]> =>
  (await gateway.api('GET', '/api/modules/queuepriority/queues')).queues

test('three threads share the slots of a provider, and one queue', async () => {
  const { upstream } = gateway
  const gates = Array.from({ length: 30 }, () => Promise.withResolvers<void>())
  for (const { promise: opened } of gates) upstream.reply({ gate: { opened } })
  const calls = Array.from({ length: 30 }, send)
  const standing = (waiting: number) =>
    vi.waitFor(async () => expect(await queues()).toMatchObject([{ running: 2, waiting }]), {
      timeout: 20_000,
    })
  await standing(28)
  for (let n = 0; n < 10; n += 1) {
    gates[n]!.resolve()
    await upstream.received(n + 3)
    expect(upstream.requests).toHaveLength(n + 3)
  }
  await standing(18)
  // Those that are answered already are destroyed, too, which changes nothing for them.
  for (const { request } of calls) request.destroy()
  await vi.waitFor(async () => expect(await queues()).toEqual([]), { timeout: 20_000 })
  const statuses = await Promise.all(calls.map(({ answer }) => answer))
  expect(statuses.filter(({ status }) => status === 200)).toHaveLength(10)
  const last = send()
  for (const { resolve } of gates) resolve()
  expect((await last.answer).status).toBe(200)
})
