import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

const path = '/api/modules/agentguard/sessions'
const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(3, { modules: { agentguard: { enabled: true, config: { max_calls: 7 } } } })
})

afterAll(() => gateway.close())

/** The statuses of so many calls of a session; 0 for one that was cut off. */
async function sendAll(session: string, count: number): Promise<number[]> {
  const sent = Array.from({ length: count }, () => gateway.chat(body, { 'x-session-id': session }))
  return (await Promise.all(sent.map(({ answer }) => answer))).map(({ status }) => status)
}

async function idOf(session: string): Promise<string> {
  const { sessions } = await gateway.api('GET', path)
  return sessions.find((one: { session: string }) => one.session === session).id
}

test('three threads count a session together, killing it ends its calls in each, and kill -9 does not undo that', async () => {
  const statuses = await sendAll('counted', 40)
  expect(statuses.filter((status) => status === 200)).toHaveLength(7)
  expect(statuses.filter((status) => status === 429)).toHaveLength(33)

  const { upstream } = gateway
  upstream.reset()
  upstream.reply({ hang: true, times: 7 })
  const hanging = sendAll('killed', 7)
  await upstream.received(7)
  await gateway.api('POST', `${path}/${await idOf('killed')}/kill`, {})
  expect(await hanging).toEqual(Array.from({ length: 7 }, () => 429))

  await gateway.killAndStart()
  expect(await sendAll('killed', 6)).toEqual(Array.from({ length: 6 }, () => 429))
})
