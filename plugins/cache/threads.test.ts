import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

/** So many fresh connections go to both threads, but for one time in a million. */
const enough = 24

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(2, { modules: { cachelayer: { enabled: true } } })
})

afterAll(() => gateway.close())

/** The texts of as many answers to one question, asked in both threads. */
async function answers(model: string): Promise<Set<string>> {
  const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
  const all = await Promise.all(Array.from({ length: enough }, () => gateway.chat(body).answer))
  return new Set(all.map(({ text }) => JSON.parse(text).choices[0].message.content))
}

test('after clearing, no thread answers from what it held, in memory or in the store', async () => {
  const { upstream } = gateway
  const models = ['gpt-4o', 'gpt-4o-mini'] as const
  const all = async () => Promise.all(models.map(answers))
  const fill = async (content: string) => {
    upstream.reset()
    for (let n = 0; n < 2 * enough; n += 1) upstream.reply({ content })
    return all()
  }
  expect(await fill('one')).toEqual([new Set(['one']), new Set(['one'])])
  // Some lie in the store, some in the memory of each thread.
  expect((await gateway.api('GET', '/api/cache')).total).toBe(2)
  expect(await fill('two')).toEqual([new Set(['one']), new Set(['one'])])

  expect((await gateway.api('DELETE', '/api/cache?model=gpt-4o')).entries).toBe(1)
  expect(await fill('three')).toEqual([new Set(['three']), new Set(['one'])])
  expect((await gateway.api('DELETE', '/api/cache')).entries).toBe(2)
  expect(await fill('four')).toEqual([new Set(['four']), new Set(['four'])])
  expect(await gateway.api('GET', '/api/cache/stats')).toMatchObject({ enabled: true })
})
