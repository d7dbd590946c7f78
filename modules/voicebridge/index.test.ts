import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ask, textOf } from '../../test/ask.ts'
import { streamsAsWhole } from '../../test/cuts.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})
beforeEach(async () => {
  upstream.reset()
  await gateway.module('voicebridge', {
    enabled: true,
    config: { active: null, format: null, language: null },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const say = (headers: Record<string, string>, more: object = {}, content = 'How far, in words or JSON?') =>
  ask(gateway, { headers, body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...more } })

test('a stream cut at every place is the plain answer', async () => {
  await gateway.module('voicebridge', { config: { active: 'always' } })
  const text = '# Way\n- **5 km**. So\n```\nx\n```'
  expect(await streamsAsWhole(gateway, upstream, text)).toBe(
    'Way.\nfive kilometers. So.\nA code example is left out here.',
  )
})

test('chunks of a stream are sentences, and the first is there before the second came', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  upstream.reply({ content: ['It is **5 km**', '. W', 'alk there!'], gate: { opened, after: 3 } })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      'x-voice': 'true',
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream: true,
      messages: [{ role: 'user', content: 'Far?' }],
    }),
  })
  let seen = ''
  for await (const bytes of response.body!) {
    seen += Buffer.from(bytes).toString()
    if (seen.includes('five kilometers.')) open()
  }
  const parts = seen
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta?.content)
  expect(parts.filter(Boolean)).toEqual(['It is five kilometers.', ' Walk there!'])
})

test.each([
  ['without the header', {}, {}, 'header'],
  ['with X-Voice: false', { 'x-voice': 'false' }, {}, 'always'],
  ['that wants JSON', { 'x-voice': 'true' }, { response_format: { type: 'json_object' } }, 'header'],
])('a call %s is left alone', async (_, headers, more, active) => {
  await gateway.module('voicebridge', { config: { active } })
  upstream.reply({ content: '{"a": "**5 km**"}' })
  const { body, headers: received } = await say(headers, more)
  expect(textOf(body), JSON.stringify(body)).toBe('{"a": "**5 km**"}')
  expect(received.get('x-voice')).toBeNull()
})

test('a caller for ears and one for eyes share what a cache has, and each gets its own form', async () => {
  await gateway.module('cachelayer', { enabled: true })
  upstream.reply({ content: '**5 km**' })
  for (const _ of [1, 2]) {
    expect(textOf((await say({}, {}, 'Same?')).body)).toBe('**5 km**')
    expect(textOf((await say({ 'x-voice': 'true' }, {}, 'Same?')).body)).toBe('five kilometers.')
  }
  expect(upstream.requests).toHaveLength(1)
  await gateway.module('cachelayer', { enabled: false })
})

test('guards see what is written, and not what is said, in a stream cut at every place too', async () => {
  await gateway.module('voicebridge', { config: { active: 'always' } })
  await gateway.module('maskmode', { enabled: true, config: { replies: true } })
  const said = await streamsAsWhole(gateway, upstream, 'Pay 5 km with 4111 1111 1111 1111. Done.')
  expect(said).toBe('Pay five kilometers with REDACTED:card. Done.')
  await gateway.module('maskmode', { enabled: false, config: { replies: null } })
})

test('placeholders of masked data get through, and the client gets their values', async () => {
  await gateway.module('maskmode', { enabled: true })
  const question = 'Repeat it: ada@example.com'
  await say({ 'x-voice': 'true' }, {}, question)
  const shown = (upstream.requests[0]!.body as { messages: { content: string }[] }).messages[0]!.content
  const placeholder = /\[EMAIL_\w+\]/.exec(shown)![0]
  upstream.reply({ content: `It is **${placeholder}**.` })
  expect(textOf((await say({ 'x-voice': 'true' }, {}, question)).body)).toBe('It is ada@example.com.')
  await gateway.module('maskmode', { enabled: false })
})

test('a call of a tool stays as it is', async () => {
  upstream.reply({ toolCalls: [{ name: 'look', arguments: { at: '**5 km**' } }] })
  const { body } = await say({ 'x-voice': 'true' })
  expect(JSON.stringify(body)).toContain('**5 km**')
})
