import { afterAll, beforeAll, expect, test } from 'vitest'
import { startThreaded, type ThreadedGateway } from '../../test/threaded.ts'

const model = 'gpt-4o-mini'

let gateway: ThreadedGateway

beforeAll(async () => {
  gateway = await startThreaded(2, { modules: { chatmem: { enabled: true, config: {} } } })
})

afterAll(() => gateway.close())

async function say(content: string, session = 'spread'): Promise<void> {
  const messages = [{ role: 'user', content }]
  const { status } = await gateway.chat({ model, messages }, { 'x-session-id': session }).answer
  expect(status).toBe(200)
}

const sent = (): string[] =>
  (gateway.upstream.last().body as { messages: { content: string }[] }).messages.map(({ content }) => content)

test('a session goes on in every thread, and after a kill', { timeout: 120_000 }, async () => {
  const { upstream } = gateway
  const turnsSaid = async (): Promise<number> =>
    (await gateway.api('GET', '/api/modules/chatmem/sessions')).sessions[0]?.turns ?? 0
  const said: string[] = []
  for (let n = 0; n < 8; n += 1) {
    upstream.reply({ content: `Answer ${n}` })
    await say(`Question ${n}`)
    said.push(`Question ${n}`, `Answer ${n}`)
    await expect.poll(turnsSaid, { timeout: 20_000 }).toBe(n + 1)
  }
  upstream.reply({ content: 'Yes.' })
  await say('All of it?')
  expect(sent()).toEqual([...said, 'All of it?'])
  await expect.poll(turnsSaid, { timeout: 20_000 }).toBe(9)
  await gateway.killAndStart()
  upstream.reply({ content: 'Still.' })
  await say('And now?')
  expect(sent()).toEqual([...said, 'All of it?', 'Yes.', 'And now?'])
})

test('a turn has what the one before it left, also where another thread answers it at once', {
  timeout: 120_000,
}, async () => {
  const said: string[] = []
  for (let n = 0; n < 30; n += 1) {
    gateway.upstream.reply({ content: `A${n}` })
    await say(`Q${n}`, 'at once')
    expect(sent()).toEqual([...said, `Q${n}`])
    said.push(`Q${n}`, `A${n}`)
  }
})
