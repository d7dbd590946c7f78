import { afterAll, beforeAll, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../index.ts'

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})

afterAll(() => upstream.close())

async function post(path: string, body: unknown, base = upstream) {
  const response = await fetch(base.baseUrl() + path, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as unknown }
}

const messages = [{ role: 'user', content: 'hi' }]
const calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }]

test.each([
  ['an unknown field', { messages, nonsense: 1 }, { param: 'nonsense', code: 'unknown_parameter' }],
  ['no messages', {}, { param: 'messages', code: 'missing_required_parameter' }],
  [
    'a role that does not exist',
    { messages: [{ role: 'owner', content: 'hi' }] },
    { param: 'messages[0].role' },
  ],
  ['a message without content', { messages: [{ role: 'user' }] }, { param: 'messages[0].content' }],
  [
    'an unknown field of a message',
    { messages: [{ role: 'user', content: 'hi', mood: 'good' }] },
    { param: 'messages[0].mood', code: 'unknown_parameter' },
  ],
  [
    'an unknown field of a content part',
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: {} }] }] },
    { param: 'messages[0].content[0].cache_control', code: 'unknown_parameter' },
  ],
  [
    'a value of the wrong type',
    { messages, temperature: 'hot' },
    { param: 'temperature', code: 'invalid_type' },
  ],
  ['a value out of range', { messages, temperature: 3 }, { param: 'temperature', code: 'invalid_value' }],
  ['stream options without a stream', { messages, stream_options: {} }, { param: 'stream_options' }],
  ['a tool choice without tools', { messages, tool_choice: 'auto' }, { param: 'tool_choice' }],
  [
    'a tool message that answers no call',
    { messages: [...messages, { role: 'tool', tool_call_id: 'call_1', content: '1' }] },
    { param: 'messages.[1].role' },
  ],
  [
    'a tool call that nothing answers',
    { messages: [{ role: 'assistant', tool_calls: calls }, ...messages] },
    { param: 'messages.[1].role' },
  ],
])('a chat request with %s is refused with 400', async (_, fields, error) => {
  const { status, body } = await post('/chat/completions', { model: 'gpt-4o', ...fields })
  expect({ status, body }).toMatchObject({
    status: 400,
    body: { error: { type: 'invalid_request_error', ...error } },
  })
  const { error: sent } = body as { error: object }
  expect(Object.keys(sent)).toEqual(['message', 'type', 'param', 'code'])
})

test('a request without a model is refused', async () => {
  const { status, body } = await post('/chat/completions', { messages })
  expect({ status, body }).toMatchObject({ status: 400, body: { error: { param: 'model' } } })
})

test('a tool message that answers a call is accepted', async () => {
  const conversation = [
    ...messages,
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', tool_call_id: 'call_1', content: '1' },
  ]
  expect(await post('/chat/completions', { model: 'gpt-4o', messages: conversation })).toMatchObject({
    status: 200,
  })
})

test('a body that is not JSON is refused', async () => {
  expect(await post('/chat/completions', '{"model":')).toMatchObject({ status: 400 })
})

test('an unknown path is 404 and a wrong method 405', async () => {
  expect(await post('/chat/complete', {})).toMatchObject({ status: 404 })
  expect(await post('/models', {})).toMatchObject({ status: 405 })
})

test('a lenient upstream takes what a strict one refuses', async () => {
  await using lenient = await startUpstream({ strict: false, apiKey: [] })
  const { status, body } = await post('/chat/completions', { messages, nonsense: 1 }, lenient)
  expect(status).toBe(200)
  expect(body).toMatchObject({ choices: [{ message: { content: 'You said: hi' } }] })
})

test('a model that is not among the listed ones is 404', async () => {
  await using small = await startUpstream({ models: ['tiny'] })
  const refused = await post('/chat/completions', { model: 'huge', messages }, small)
  expect(refused).toMatchObject({ status: 404, body: { error: { code: 'model_not_found' } } })
  expect(await post('/chat/completions', { model: 'tiny', messages }, small)).toMatchObject({ status: 200 })
})
