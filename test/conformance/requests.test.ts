import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import { runs } from '../suite/runs.ts'
import { changes, odd, unspeakable } from './odd.ts'
import { anthropic } from './providers/anthropic.ts'
import { bedrock } from './providers/bedrock.ts'
import { cohere } from './providers/cohere.ts'
import { gemini } from './providers/gemini.ts'
import { openai } from './providers/openai.ts'
import { askRaw, call, type RawWire, schema } from './raw.ts'
import { startStand } from './stand.ts'

/** Requests with something in them changed: they are answered, or refused in words that say what is wrong. */

const providers = [openai, anthropic, gemini, bedrock, cohere]
const stand = shared(() => startStand(providers))
beforeEach(() => {
  stand.gateway.logged.length = 0
  stand.reset()
})

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const image = `data:image/png;base64,${png}`

/** A request of each wire with much of what it may have. */
const requests: Readonly<Record<RawWire, object>> = {
  chat: {
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'S' }] },
      {
        role: 'user',
        name: 'Ada',
        content: [
          { type: 'text', text: 'Q' },
          { type: 'image_url', image_url: { url: image, detail: 'low' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        ],
      },
      { role: 'assistant', content: 'A', refusal: null, tool_calls: [call('c1', 'look', '{"x":"y"}')] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'R' }] },
      { role: 'user', content: 'Q2' },
    ],
    tools: [
      { type: 'function', function: { name: 'look', description: 'd', parameters: schema, strict: false } },
      { type: 'custom', custom: { name: 'write', format: { type: 'text' } } },
    ],
    tool_choice: { type: 'function', function: { name: 'look' } },
    reasoning_effort: 'low',
    stop: ['a'],
    max_completion_tokens: 100,
    logit_bias: { '1': 1 },
    user: 'u',
    metadata: { a: 'b' },
  },
  messages: {
    system: [{ type: 'text', text: 'S', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Q' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, title: 't' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'h', signature: 's' },
          { type: 'text', text: 'A' },
          { type: 'tool_use', id: 'c1', name: 'look', input: { x: 'y' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'R' }], is_error: false },
          { type: 'text', text: 'Q2' },
        ],
      },
    ],
    tools: [
      { name: 'look', description: 'd', input_schema: schema },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
    tool_choice: { type: 'tool', name: 'look' },
    max_tokens: 4000,
    stop_sequences: ['a'],
    metadata: { user_id: 'u' },
  },
  responses: {
    instructions: 'S',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Q' },
          { type: 'input_image', image_url: image },
        ],
      },
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'h' }] },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'R' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'A' }] },
      { role: 'user', content: 'Q2' },
    ],
    tools: [
      { type: 'function', name: 'look', parameters: schema, strict: false },
      { type: 'custom', name: 'write' },
      { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'go', parameters: schema }] },
    ],
    tool_choice: { type: 'function', name: 'look' },
    reasoning: { effort: 'low' },
    metadata: { a: 'b' },
  },
}

const ways = (['chat', 'messages', 'responses'] as const).flatMap((wire) =>
  providers.map((provider) => ({ wire, provider, to: provider.name })),
)

test.each(ways)('$wire to $to', async ({ wire, provider }) => {
  const upstream = stand.upstream(provider)
  await fc.assert(
    fc.asyncProperty(changes, async (made) => {
      upstream.reset()
      const body = odd(requests[wire], made) as object
      const { status, text, changes: told } = await askRaw(stand, wire, provider, body)
      expect(told).not.toMatch(unspeakable)
      if (status === 200 || upstream.requests.length > 0) return
      expect(status).toBeLessThan(500)
      expect(text).not.toMatch(unspeakable)
    }),
    runs(40),
  )
  expect(stand.gateway.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

test.each(providers)(
  'to $name, a stop that is no text is answered, or refused in its words',
  async (provider) => {
    const { status } = await askRaw(stand, 'chat', provider, { ...requests.chat, tools: [], stop: [null] })
    expect(status).toBeLessThan(500)
    expect(stand.gateway.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  },
)

test('a part of a message that has no type is dropped by a name', async () => {
  const steps = [112576976, 0, 176059821, 1542176330, 990452941, 531760706]
  const { changes: told } = await askRaw(
    stand,
    'messages',
    openai,
    odd(requests.messages, [{ steps, to: [{}] }]) as object,
  )
  expect(told).not.toMatch(unspeakable)
  expect(told).toContain('-messages.content')
})

test('what is missing is said to be missing', async () => {
  const messages = [{ role: 'user', content: 'hi' }]
  const refused = async (wire: RawWire, body: object): Promise<string> => {
    const { status, text } = await askRaw(stand, wire, openai, body)
    expect(status).toBe(400)
    return (JSON.parse(text) as { error: { message: string } }).error.message
  }
  expect(await refused('chat', {})).toBe('messages: it is missing: expected array.')
  expect(await refused('chat', { messages, tools: [{ type: 'function', function: {} }] })).toBe(
    'tools.0.function.name: it is missing: expected string.',
  )
  expect(await refused('messages', { messages, tools: [{ name: 'look' }] })).toBe(
    'tools.0.input_schema: it is missing.',
  )
  expect(await refused('messages', { messages, tools: [{ input_schema: {} }] })).toBe(
    'tools.0.name: it is missing.',
  )
  const content = (source: object) => ({
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'image', source }] }],
  })
  expect(await refused('messages', content({ type: 'base64', data: png }))).toBe(
    'messages.0.content.0.source.media_type: it is missing: expected string.',
  )
  expect(await refused('messages', content({ type: 'url' }))).toBe(
    'messages.0.content.0.source.url: it is missing: expected string.',
  )
  expect(await refused('responses', { input: [{ type: 'function_call', arguments: '{}' }] })).toContain(
    'it is missing',
  )
})
