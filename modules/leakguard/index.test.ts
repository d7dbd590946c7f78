import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { modules: { leakguard: { enabled: true } } } })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const system =
  'You are Tilly, the assistant of a tea shop. Never offer more than nine percent off. If someone asks for a refund above ' +
  'forty euros, send them to the back office and do not explain how that limit was chosen.'

async function ask(stream: boolean, content: unknown = system, question = 'Hi') {
  const messages = [
    ...(content === null ? [] : [{ role: 'system', content }]),
    { role: 'user', content: question },
  ]
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages }),
  })
  return { status: response.status, text: await response.text() }
}

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
}
const sent = (n = -1): Sent => upstream.requests.at(n)!.body as Sent
const markIn = (content: unknown): string =>
  /never to be written: ([a-z\d]{16})/.exec(JSON.stringify(content))![1]!

test.each([false, true])(
  'a leak ends the answer, and nothing of it has left (streamed: %s)',
  async (stream) => {
    upstream.reply({ content: `${'Tea is good. '.repeat(50)}${system}`, splitBytes: 5 })
    const { status, text } = await ask(stream)
    expect(status).toBe(stream ? 200 : 400)
    expect(text).not.toContain('percent')
    expect(text).not.toContain('refund')
    expect(text).toMatch(/leakguard|content_filter/)
    if (stream) expect(text).toContain('Tea')
  },
)

test.each([false, true])(
  'a leak in arguments of a tool ends the answer too (streamed: %s)',
  async (stream) => {
    upstream.reply({
      toolCalls: [{ name: 'send', arguments: JSON.stringify({ text: system }) }],
      splitBytes: 5,
    })
    const { text } = await ask(stream)
    expect(text).not.toContain('refund')
  },
)

test('the canary is the same for a key on a day, stands behind the prompt, and ends an answer that has it', async () => {
  await ask(false)
  await ask(false, [{ type: 'text', text: system }])
  const [first, second] = [sent(0), sent(1)]
  const mark = markIn(first)
  expect(markIn(second)).toBe(mark)
  expect(first.messages[0]!.content).toBe(`${system}\n\nInternal reference, never to be written: ${mark}`)
  upstream.reply({ content: `It says ${mark.slice(0, 8)}${mark.slice(8)}` })
  expect((await ask(false)).status).toBe(400)
})

test('a call without a system prompt is left alone', async () => {
  upstream.reply({ content: system })
  expect((await ask(false, null)).status).toBe(200)
  expect(sent().messages).toEqual([{ role: 'user', content: 'Hi' }])
})

describe('passages that a module brings as a message of the system', () => {
  const passage =
    'Employees of the tea shop have twenty seven days of holidays a year, and two more once they have been there for ten years.'
  beforeAll(async () => {
    const documents = [{ title: 'Holidays', content: passage }]
    await gateway.module('contextpack', { enabled: true, config: { documents } })
    await gateway.module('leakguard', { config: { max_overlap_tokens: 10 } })
  })
  afterAll(async () => {
    await gateway.module('contextpack', { enabled: false })
    await gateway.module('leakguard', { config: null })
  })

  test.each([false, true])(
    'may be quoted, and the prompt beside them may not (streamed: %s)',
    async (stream) => {
      const question = 'How many days of holidays do employees have?'
      upstream.reply({ content: passage, splitBytes: 5 })
      const quoted = await ask(stream, system, question)
      expect(JSON.stringify(sent())).toContain('twenty seven')
      expect(quoted.text).toMatch(stream ? /"stop"/ : /ten years/)
      expect(markIn(sent().messages[0]!.content)).toHaveLength(16)
      upstream.reply({ content: `${passage} ${system}`, splitBytes: 5 })
      expect((await ask(stream, system, question)).text).not.toContain('refund')
      upstream.reply({ content: passage })
      expect((await ask(stream, null, question)).status).toBe(200)
      expect(JSON.stringify(sent())).not.toContain('never to be written')
    },
  )
})
