import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const found = 'The tower is 93 m high. It was built by Ada Kern. See https://example.com/tower.'
const messages = [
  { role: 'user', content: 'How high is the tower?' },
  {
    role: 'assistant',
    content: 'It is 500 m high, I guess.',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: found },
]

async function ask(config: object, stream = false) {
  const all = { check: null, action: null, min_context: 20, names_judge: null, ...config }
  await gateway.module('hallucicheck', { enabled: true, config: all })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages, stream }),
  })
  return { text: await response.text(), claims: response.headers.get('x-unsupported-claims') }
}

describe.each([false, true])('stream: %s', (stream) => {
  test('results of tools support an answer, and what the model said before does not', async () => {
    upstream.reply({ content: 'It is 93 m high.' })
    expect((await ask({}, stream)).claims).toBeNull()
    upstream.reply({ content: 'It is 500 m high.' })
    expect((await ask({}, stream)).claims).toBe('quantity=500%20m')
  })

  test('what a guard takes out, or the check itself, is not quoted', async () => {
    await gateway.module('secretscan', { enabled: true })
    const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    upstream.reply({ content: `It is 500 m high, says https://example.org/${token}.` })
    const { text, claims } = await ask({}, stream)
    expect(text).not.toContain(token)
    expect(claims).toBe('quantity=500%20m, url')
    await gateway.module('secretscan', { enabled: false })
    upstream.reply({ content: 'It is 500 m high. Good luck!' })
    expect((await ask({ action: 'strip' }, stream)).claims).toBe('quantity')
  })

  test('an answer is asked for again once, with what is unsupported', async () => {
    upstream.reply({ content: 'It is 94 m high.' })
    upstream.reply({ content: 'It is 93 m high.' })
    const { text, claims } = await ask({ action: 'retry' }, stream)
    expect(text).toContain('93 m')
    expect(text).not.toContain('94 m')
    expect(claims).toBeNull()
    expect(JSON.stringify(upstream.requests[1]!.body)).toContain('94 m')
  })
})

test('a judge looks for names, and only names of the answer count', async () => {
  const judge = { names_judge: { model: 'gpt-4o' } }
  upstream.reply({ text: 'List each name' }, { content: 'Sure: {"names": ["Grace Bell", "Ada Lovelace"]}' })
  upstream.reply({ content: 'Grace Bell built it, of 93 m.' })
  expect((await ask(judge)).claims).toBe('name=Grace%20Bell')
  upstream.reply({ text: 'List each name' }, { content: 'no' })
  upstream.reply({ content: 'Grace Bell built it.' })
  expect((await ask(judge)).claims).toBeNull()
})

test('little context is no measure, and only what is asked for is checked', async () => {
  upstream.reply({ content: 'It is 94 m high.' })
  expect((await ask({ min_context: 10_000 })).claims).toBeNull()
  upstream.reply({ content: 'It is 94 m high.' })
  expect((await ask({ check: ['url'] })).claims).toBeNull()
})

test('code stays when sentences go, and a long list ends with the word more', async () => {
  upstream.reply({ content: 'Use this:\n```sh\nsleep 7 # 12 km\n```\nIt takes 12 km. Good luck!' })
  const { text } = await ask({ action: 'strip' })
  expect(JSON.parse(text).choices[0].message.content).toBe(
    'Use this:\n```sh\nsleep 7 # 12 km\n```\nGood luck!',
  )
  upstream.reply({ content: Array.from({ length: 80 }, (_, n) => `${n * 1000 + 211} kg of ${n}.`).join(' ') })
  expect((await ask({})).claims).toMatch(/more$/)
})
