import type OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { sharedProvider } from '../../test/played.ts'
import { anthropic } from '../../test/upstream/anthropic/index.ts'

const played = sharedProvider('anthropic', anthropic)

type Fields = Record<string, unknown>

const nothing = {
  system: null,
  thinking_budgets: null,
  thinking_share: null,
  forced_tools: null,
  cache: null,
  betas: null,
  thinking: null,
  citations: null,
}
const fit = (config: Fields) =>
  played.gateway.module('anthrofit', { enabled: true, config: { ...nothing, ...config } })

const model = 'claude-sonnet-4-5'
const hi = [{ role: 'user', content: 'hi' }]
const lookUp = {
  type: 'function',
  function: { name: 'look_up', parameters: { type: 'object', properties: {} } },
}
const sentTool = { name: 'look_up', input_schema: { type: 'object', properties: {} } }

const create = (fields: Fields, headers: Record<string, string> = {}) =>
  played.client.chat.completions
    .create({ model, messages: hi, ...fields } as OpenAI.ChatCompletionCreateParamsNonStreaming, { headers })
    .withResponse()

/** Requests as clients make them, and exactly what the provider gets of them under the settings. */
const requests: readonly [what: string, settings: Fields, request: Fields, sent: Fields][] = [
  [
    'system messages are merged without a setting',
    {},
    {
      max_tokens: 9,
      messages: [
        { role: 'system', content: 'A' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'system', content: 'B' },
        { role: 'user', content: 'three' },
      ],
    },
    {
      model,
      max_tokens: 9,
      system: [
        { type: 'text', text: 'A' },
        { type: 'text', text: 'B' },
      ],
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'user', content: 'three' },
      ],
    },
  ],
  [
    'system messages stay in their place, those before the conversation apart',
    { system: 'in_place' },
    {
      max_tokens: 9,
      messages: [
        { role: 'system', content: 'A' },
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        { role: 'system', content: 'B' },
        { role: 'user', content: 'three' },
      ],
    },
    {
      model,
      max_tokens: 9,
      system: 'A',
      messages: [
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'two' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'B' },
            { type: 'text', text: 'three' },
          ],
        },
      ],
    },
  ],
  [
    'an effort has the budget that is set for it',
    { thinking_budgets: { medium: 3000 } },
    { max_tokens: 10_000, reasoning_effort: 'medium' },
    { model, max_tokens: 10_000, messages: hi, thinking: { type: 'enabled', budget_tokens: 3000 } },
  ],
  [
    'thinking takes its share of the answer and no more',
    { thinking_share: 0.25 },
    { max_tokens: 10_000, reasoning_effort: 'high' },
    { model, max_tokens: 10_000, messages: hi, thinking: { type: 'enabled', budget_tokens: 2500 } },
  ],
  [
    'a forced tool goes before thinking without a setting',
    {},
    { max_tokens: 10_000, reasoning_effort: 'low', tools: [lookUp], tool_choice: 'required' },
    { model, max_tokens: 10_000, messages: hi, tools: [sentTool], tool_choice: { type: 'any' } },
  ],
  [
    'a forced tool is left to the model where it is rather to think',
    { forced_tools: 'as_auto' },
    { max_tokens: 10_000, reasoning_effort: 'low', tools: [lookUp], tool_choice: 'required' },
    {
      model,
      max_tokens: 10_000,
      messages: hi,
      tools: [sentTool],
      tool_choice: { type: 'auto' },
      thinking: { type: 'enabled', budget_tokens: 2048 },
    },
  ],
  [
    'a forced tool stays forced where nothing is to be thought',
    { forced_tools: 'as_auto' },
    { max_tokens: 10_000, tools: [lookUp], tool_choice: 'required' },
    { model, max_tokens: 10_000, messages: hi, tools: [sentTool], tool_choice: { type: 'any' } },
  ],
  [
    'marks stand at the end of the places to be cached',
    { cache: { at: ['tools', 'system', 'messages'], ttl: '1h' } },
    { max_tokens: 9, messages: [{ role: 'system', content: 'A' }, ...hi], tools: [lookUp] },
    {
      model,
      max_tokens: 9,
      system: [{ type: 'text', text: 'A', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        },
      ],
      tools: [{ ...sentTool, cache_control: { type: 'ephemeral', ttl: '1h' } }],
    },
  ],
  [
    'a request with marks of its own gets no others',
    { cache: { at: ['messages'] } },
    {
      max_tokens: 9,
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'A', cache_control: { type: 'ephemeral' } }],
        },
        ...hi,
      ],
    },
    {
      model,
      max_tokens: 9,
      system: [{ type: 'text', text: 'A', cache_control: { type: 'ephemeral' } }],
      messages: hi,
    },
  ],
]

describe('a request', () => {
  test.each(requests)('%s', async (_, settings, request, sent) => {
    await fit(settings)
    await create(request)
    expect(played.upstream.last().body).toEqual(sent)
  })

  test('whose tool choice was relaxed says so', async () => {
    await fit({ forced_tools: 'as_auto' })
    const { response } = await create({
      max_tokens: 10_000,
      reasoning_effort: 'low',
      tools: [lookUp],
      tool_choice: 'required',
    })
    expect(response.headers.get('x-params-changed')).toContain('tool_choice:any->auto')
  })

  test('has the betas that are set beside those of the client, each once', async () => {
    await fit({ betas: ['one-2025-01-01', 'two-2025-02-02'] })
    await create({})
    expect(played.upstream.last().headers['anthropic-beta']).toBe('one-2025-01-01,two-2025-02-02')
    await create({}, { 'anthropic-beta': 'own-1, one-2025-01-01' })
    expect(played.upstream.last().headers['anthropic-beta']).toBe('own-1,one-2025-01-01,two-2025-02-02')
  })

  test('that the module does not apply to is translated as usual', async () => {
    await played.gateway.module('anthrofit', {
      enabled: true,
      config: { ...nothing, betas: ['one-2025-01-01'] },
      when: { projects: ['elsewhere'] },
    })
    await create({})
    expect(played.upstream.last().headers['anthropic-beta']).toBeUndefined()
    await played.gateway.module('anthrofit', { when: null })
  })
})

const citation = {
  type: 'char_location',
  cited_text: 'grass',
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 5,
}
const answer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  content: [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'text', text: 'Green.', citations: [citation] },
  ],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 7 },
}

const events: readonly Fields[] = [
  { type: 'message_start', message: { ...answer, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Green.' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 7 },
  },
  { type: 'message_stop' },
]
const chunks = events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)

const thoughts = {
  reasoning_content: 'Hm.',
  reasoning_details: [expect.objectContaining({ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' })],
}

/** Every field that the deltas of a stream had, and its texts put together. */
async function streamed(): Promise<{ fields: string[]; content: string }> {
  played.upstream.reply({ chunks })
  const stream = await played.client.chat.completions.create({
    model,
    messages: hi,
    stream: true,
  } as OpenAI.ChatCompletionCreateParamsStreaming)
  const fields = new Set<string>()
  let content = ''
  for await (const { choices } of stream) {
    for (const { delta } of choices) {
      for (const field of Object.keys(delta)) fields.add(field)
      content += delta.content ?? ''
    }
  }
  return { fields: [...fields].sort(), content }
}

describe('an answer', () => {
  test('shows thinking and citations without a setting', async () => {
    await fit({})
    played.upstream.reply({ body: answer })
    const { data } = await create({})
    expect(data.choices[0]!.message).toMatchObject({
      content: 'Green.',
      ...thoughts,
      annotations: [expect.anything()],
    })
    expect(await streamed()).toEqual({
      fields: ['annotations', 'content', 'reasoning_content', 'reasoning_details', 'role'],
      content: 'Green.',
    })
  })

  test('hides thinking, and its signature with it, whole and streamed', async () => {
    await fit({ thinking: 'hide' })
    played.upstream.reply({ body: answer })
    const { data } = await create({})
    expect(data.choices[0]!.message).toEqual({
      role: 'assistant',
      content: 'Green.',
      refusal: null,
      annotations: [expect.anything()],
    })
    expect(await streamed()).toEqual({ fields: ['annotations', 'content', 'role'], content: 'Green.' })
  })

  test('hides citations, whole and streamed', async () => {
    await fit({ citations: 'hide' })
    played.upstream.reply({ body: answer })
    const { data } = await create({})
    expect(data.choices[0]!.message).toEqual({
      role: 'assistant',
      content: 'Green.',
      refusal: null,
      ...thoughts,
    })
    expect((await streamed()).fields).toEqual(['content', 'reasoning_content', 'reasoning_details', 'role'])
  })

  test('keeps every byte for a client of the protocol itself', async () => {
    await fit({ thinking: 'hide', citations: 'hide' })
    played.upstream.reply({ body: answer })
    const question = { model, max_tokens: 9, messages: hi }
    const { body } = await played.gateway.api('POST', '/v1/messages', question)
    expect(body).toEqual(answer)
  })
})
