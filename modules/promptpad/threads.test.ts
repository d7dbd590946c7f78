import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(2, {})
})

afterAll(() => gateway.close())

const at = '/api/studio/templates'

/** The instructions of several calls at once, on connections of their own, so that both threads have some. */
async function instructed(which: object): Promise<unknown[]> {
  gateway.upstream.reset()
  const body = {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello' }],
    template: { slug: 'greet', ...which },
  }
  const answers = await Promise.all(Array.from({ length: 12 }, () => gateway.chat(body).answer))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  const texts = gateway.upstream.requests.map(
    ({ body }) => (body as { messages: { content: string }[] }).messages[0]?.content,
  )
  return [...new Set(texts)]
}

test('a version that is published holds for the next call of every thread, and a pinned one stays, also after a kill', async () => {
  await gateway.api('POST', at, { slug: 'greet', content: 'Text 1' })
  for (let n = 2; n <= 6; n += 1) {
    await gateway.api('POST', `${at}/greet/versions`, { content: `Text ${n}` })
    expect(await instructed({})).toEqual([`Text ${n}`])
    expect(await instructed({ version: 1 })).toEqual(['Text 1'])
  }
  await gateway.killAndStart()
  expect([await instructed({}), await instructed({ version: 1 })]).toEqual([['Text 6'], ['Text 1']])
})

test('what a document says of a template holds for the next call of every thread, and so does what a rollback brings back', async () => {
  const say = (form: object | null) => gateway.api('POST', '/api/config', { templates: { greet: form } })
  await say(null)
  for (let n = 1; n <= 3; n += 1) {
    const { generation } = await say({ content: `Said ${n}` })
    expect(await instructed({ version: 1 })).toEqual([`Said ${n}`])
    await say({ content: 'Said since' })
    expect(await instructed({})).toEqual(['Said since'])
    await say(null)
    await gateway.api('POST', '/api/config/rollback', { generation })
    expect(await instructed({ version: 1 })).toEqual([`Said ${n}`])
    await say(null)
  }
})
