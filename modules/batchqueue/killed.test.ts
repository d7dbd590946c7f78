import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

const calls = 60
const concurrency = 4
const kills = 2

let gateway: ThreadedGateway

beforeAll(async () => {
  const batchqueue = { enabled: true, config: { concurrency } }
  gateway = await startThreaded(2, { modules: { batchqueue } })
})

afterAll(() => gateway.close())

const bodyOf = (n: number) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: `Label text ${n}.` }],
})

test('calls that were put off survive kills, and each has one result', async () => {
  const { upstream } = gateway
  upstream.reply({ content: 'A label.', delayMs: 20, times: Number.POSITIVE_INFINITY })
  const sent = Array.from({ length: calls }, (_, n) => gateway.chat(bodyOf(n), { 'x-batch': 'true' }).answer)
  const ids = (await Promise.all(sent)).map(({ status, text }) => {
    expect([status, text]).toEqual([202, expect.any(String)])
    return /bq_\w+/.exec(text)![0]
  })
  for (let kill = 1; kill <= kills; kill += 1) {
    await upstream.received(kill * 15)
    await gateway.killAndStart()
  }
  const at = '/api/modules/batchqueue/calls'
  const all = async (): Promise<{ id: string; status: string }[]> =>
    (await gateway.api('GET', `${at}?limit=500`)).calls
  const open = async () => (await all()).filter(({ status }) => status !== 'done').length
  await expect.poll(open, { timeout: 60_000 }).toBe(0)
  expect((await all()).map(({ id }) => id).sort()).toEqual(ids.sort())
  for (const id of ids) {
    const { response } = await gateway.api('GET', `${at}/${id}`)
    expect(response.choices[0].message.content).toBe('A label.')
  }
  const asked = upstream.requests.map(({ body }) => (body as ReturnType<typeof bodyOf>).messages[0]!.content)
  expect(new Set(asked).size).toBe(calls)
  // What was in flight at a kill is asked again, and nothing else is.
  expect(asked.length).toBeLessThanOrEqual(calls + kills * concurrency)
})
