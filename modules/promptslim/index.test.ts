import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: { modules: { promptslim: { enabled: true, config: { level: 3 } } } },
  })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const post = (path: string, body: object) =>
  fetch(`${gateway.url}/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function sent(messages: readonly object[]) {
  const response = await post('chat/completions', { model: 'gpt-4o-mini', messages })
  await response.text()
  return { response, messages: (upstream.requests.at(-1)!.body as { messages: unknown }).messages }
}

const policy =
  'Refunds are paid within fourteen days, by the way that the customer has paid, and never in cash.'

test('what users and tools say is slimmed, and what the model said is not', async () => {
  const wide = 'Please    note     this'
  const { messages } = await sent([
    { role: 'user', content: [{ type: 'text', text: wide }] },
    {
      role: 'assistant',
      content: wide,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'find', arguments: '{ "a":    1 }' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{ "said": "please   note",\n  "n": 1 }' },
  ])
  expect(messages).toMatchObject([
    { content: [{ type: 'text', text: 'Note  this' }] },
    { content: wide, tool_calls: [{ function: { arguments: '{ "a":    1 }' } }] },
    { content: '{"said":"please   note","n":1}' },
  ])
})

test('a message of instructions that were given before goes, and one with more than these keeps the rest', async () => {
  const { messages, response } = await sent([
    { role: 'system', content: policy },
    { role: 'user', content: policy },
    { role: 'system', content: policy },
    { role: 'developer', content: [{ type: 'text', text: policy }] },
    { role: 'system', content: `${policy}\n\nBe brief.` },
  ])
  expect(messages).toEqual([
    { role: 'system', content: policy },
    { role: 'user', content: policy },
    { role: 'system', content: 'Be brief.' },
  ])
  const saved = Number(response.headers.get('x-prompt-slim'))
  expect(saved).toBeGreaterThan(50)
  const { body } = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
  expect(JSON.stringify(body)).toContain(`"about_tokens":${saved}`)
})

test('a text that is longer than what is left of half a million characters stays, and others are slimmed', async () => {
  const long = 'a    b '.repeat(60_000)
  const { messages } = await sent([
    { role: 'user', content: long },
    { role: 'user', content: long },
    { role: 'user', content: 'a    b' },
  ])
  const contents = (messages as { content: string }[]).map(({ content }) => content)
  expect(contents[0]!.length).toBeLessThan(long.length)
  expect(contents.slice(1)).toEqual([long, 'a  b'])
})

test('there is no header where nothing was saved, and inputs of embeddings stay', async () => {
  const { response } = await sent([{ role: 'user', content: 'Hello' }])
  expect(response.headers.get('x-prompt-slim')).toBeNull()
  await post('embeddings', { model: 'text-embedding-3-small', input: 'please     note' })
  expect(upstream.requests.at(-1)!.body).toMatchObject({ input: 'please     note' })
})
