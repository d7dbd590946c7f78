import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(3, {})
})

afterAll(() => gateway.close())

const messages = [{ role: 'user', content: 'Hi' }]

/** The statuses of calls for autopilot, on connections that the threads share. */
async function statuses(): Promise<Set<number>> {
  const sent = Array.from({ length: 30 }, () => gateway.chat({ model: 'auto', messages }).answer)
  return new Set((await Promise.all(sent)).map(({ status }) => status))
}

test('what is set of autopilot holds for the next call in every thread, and over a kill', async () => {
  gateway.upstream.reply({ content: 'ok', times: Number.POSITIVE_INFINITY })
  expect(await statuses()).toEqual(new Set([404]))
  await gateway.api('PUT', '/api/autopilot', { reference_model: 'gpt-4o-mini' })
  expect(await statuses()).toEqual(new Set([200]))
  await gateway.killAndStart()
  expect(await statuses()).toEqual(new Set([200]))
  await gateway.api('PUT', '/api/autopilot', { reference_model: null })
  expect(await statuses()).toEqual(new Set([404]))
})
