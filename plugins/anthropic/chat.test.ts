import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { startGateway } from '../../test/harness.ts'
import { sharedProvider } from '../../test/played.ts'
import { anthropic, signatureOf } from '../../test/upstream/anthropic/index.ts'

const played = sharedProvider('anthropic', anthropic)

const model = 'claude-sonnet-4-5'
const hi = [{ role: 'user' as const, content: 'hi' }]
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather in a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', pattern: '^[A-Z]' } },
      required: ['city'],
      $defs: { unused: { type: 'null' } },
      additionalProperties: false,
    },
  },
}

type Fields = Record<string, unknown>

/** Asks and returns what the provider was sent, and what came back. */
async function ask(fields: Fields = {}) {
  const { data, response } = await played.client.chat.completions
    .create({ model, messages: hi, ...fields } as OpenAI.ChatCompletionCreateParamsNonStreaming)
    .withResponse()
  const changed = response.headers.get('x-params-changed')?.split(', ') ?? []
  return {
    data,
    message: data.choices[0]!.message as Fields & (typeof data.choices)[0]['message'],
    changed,
    sent: sent(),
  }
}

const sent = (): Fields => played.upstream.last().body as Fields

async function chunksOf(fields: Fields = {}) {
  const stream = await played.client.chat.completions.create({
    model,
    messages: hi,
    ...fields,
    stream: true,
  } as OpenAI.ChatCompletionCreateParamsStreaming)
  const chunks: OpenAI.ChatCompletionChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

const refused = (fields: Fields) =>
  ask(fields).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('a call', () => {
  it('goes to the Messages endpoint with key and version, and comes back as a completion', async () => {
    const { data, message, sent } = await ask()
    expect(played.upstream.last()).toMatchObject({ path: '/v1/messages', key: 'key-of-anthropic' })
    expect(played.upstream.last().headers).toMatchObject({ 'anthropic-version': '2023-06-01' })
    expect(played.upstream.last().headers.authorization).toBeUndefined()
    expect(sent).toEqual({ model, max_tokens: 64_000, messages: hi })
    expect(data).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ index: 0, finish_reason: 'stop', native_finish_reason: 'end_turn' }],
    })
    expect(message.content).toBe('You said: hi')
  })

  it('streams: role first, text, finish, and usage alone in the last chunk when asked for', async () => {
    const chunks = await chunksOf({ stream_options: { include_usage: true } })
    expect(chunks[0]!.choices[0]!.delta).toEqual({ role: 'assistant', content: '' })
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('You said: hi')
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } })
    for (const chunk of chunks.slice(0, -1)) expect(chunk.choices).toHaveLength(1)
    expect((await chunksOf()).every(({ choices }) => choices.length === 1)).toBe(true)
  })

  it('takes a base URL with the version at its end too', async () => {
    const other = await startGateway({
      config: {
        providers: {
          anthropic: { base_url: `${played.upstream.baseUrl()}/v1`, api_key: 'key-of-anthropic' },
        },
      },
    })
    const { body } = await other.api('POST', '/v1/chat/completions', { model, messages: hi })
    await other.close()
    expect(body.choices[0].message.content).toBe('You said: hi')
  })
})

describe('parameters', () => {
  it('are carried, clamped or dropped, and every change is told', async () => {
    const { sent, changed } = await ask({
      max_completion_tokens: 50,
      temperature: 1.7,
      stop: ['END', ' '],
      user: 'u1',
      seed: 7,
      n: 1,
      logprobs: false,
      presence_penalty: 0.5,
      metadata: { a: 'b' },
      top_k: 5,
    })
    expect(sent).toEqual({
      model,
      max_tokens: 50,
      messages: hi,
      temperature: 1,
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      top_k: 5,
    })
    expect(changed.toSorted()).toEqual(
      ['temperature:1.7->1', '-stop', '-seed', '-presence_penalty', '-metadata'].toSorted(),
    )
  })

  it.each([
    ['claude-3-haiku-20240307', 4096],
    ['claude-3-5-sonnet-latest', 8192],
    ['claude-opus-4-1-20250805', 32_000],
    ['claude-opus-4-20250514', 32_000],
    ['claude-sonnet-4-20250514', 64_000],
    ['claude-haiku-4-5', 64_000],
    ['claude-opus-4-6', 128_000],
    ['claude-opus-9', 64_000],
  ])('ask %s for all it can say, %i tokens, when there is no limit', async (name, tokens) => {
    expect((await ask({ model: name })).sent.max_tokens).toBe(tokens)
  })

  it('that newer models refuse together, or at all, are dropped', async () => {
    const both = { temperature: 0.5, top_p: 0.5 }
    expect((await ask({ ...both, model: 'claude-3-haiku' })).sent).toMatchObject(both)
    const one = await ask(both)
    expect(one.sent).toMatchObject({ temperature: 0.5 })
    expect(one.sent).not.toHaveProperty('top_p')
    expect(one.changed).toEqual(['-top_p'])
    expect((await ask({ ...both, model: 'claude-opus-4-7' })).changed).toEqual(['-temperature', '-top_p'])
  })

  it('that ask for several answers are refused', async () => {
    expect(await refused({ n: 2 })).toMatchObject({ status: 400, param: 'n' })
    expect(played.upstream.requests).toHaveLength(0)
  })
})

describe('the conversation', () => {
  it('has system and developer messages apart and in order, neighbours merged, blank texts gone', async () => {
    const { sent } = await ask({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'a' },
        { role: 'user', content: [{ type: 'text', text: 'b', cache_control: { type: 'ephemeral' } }] },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'c' },
        { role: 'developer', content: 'Be kind.' },
        { role: 'user', content: 'd' },
      ],
    })
    expect(sent.system).toEqual([
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: 'Be kind.' },
    ])
    expect(sent.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b', cache_control: { type: 'ephemeral' } },
        ],
      },
      { role: 'assistant', content: 'c' },
      { role: 'user', content: 'd' },
    ])
  })

  it('of system messages alone is the user’s', async () => {
    const { sent, changed } = await ask({ messages: [{ role: 'system', content: 'Say hi.' }] })
    expect(sent.messages).toEqual([{ role: 'user', content: 'Say hi.' }])
    expect(changed).toEqual(['role:system->user'])
  })

  it('shows images and documents', async () => {
    const pdf = 'JVBERi0='
    const { sent } = await ask({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
            { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` } },
          ],
        },
      ],
    })
    expect((sent.messages as { content: unknown }[])[0]!.content).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: pdf },
        title: 'a.pdf',
      },
    ])
  })

  it('cannot have audio', async () => {
    const content = [{ type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }]
    expect(await refused({ messages: [{ role: 'user', content }] })).toMatchObject({
      status: 400,
      param: 'messages.0.content.0',
    })
  })
})

describe('tools', () => {
  const call = (id: string, json: string, name = 'weather') => ({
    id,
    type: 'function',
    function: { name, arguments: json },
  })

  it('go with their whole schema, the choice and whether several may be called', async () => {
    const { sent } = await ask({ tools: [weather], tool_choice: 'required', parallel_tool_calls: false })
    expect(sent.tools).toEqual([
      {
        name: 'weather',
        description: 'The weather in a city',
        input_schema: weather.function.parameters,
      },
    ])
    expect(sent.tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true })
    const choices = [
      ['auto', { type: 'auto' }],
      ['none', { type: 'none' }],
      [
        { type: 'function', function: { name: 'weather' } },
        { type: 'tool', name: 'weather' },
      ],
    ]
    for (const [given, expected] of choices)
      expect((await ask({ tools: [weather], tool_choice: given })).sent.tool_choice).toEqual(expected)
  })

  it('of which only some are allowed are these alone, and may be demanded', async () => {
    const other = { type: 'function' as const, function: { name: 'other' } }
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'weather' } }] },
    })
    const names = ({ tools }: Fields) => (tools as { name: string }[]).map(({ name }) => name)
    const auto = await ask({ tools: [weather, other], tool_choice: allowed('auto') })
    expect([names(auto.sent), auto.sent.tool_choice]).toEqual([['weather'], { type: 'auto' }])
    const demanded = await ask({ tools: [weather, other], tool_choice: allowed('required') })
    expect([names(demanded.sent), demanded.sent.tool_choice]).toEqual([['weather'], { type: 'any' }])
    expect(await refused({ tools: [weather], tool_choice: { type: 'mystery' } })).toMatchObject({
      status: 400,
      param: 'tool_choice',
    })
  })

  it('are called, several at a time, plain and streamed alike', async () => {
    const toolCalls = [
      { id: 'toolu_a', name: 'weather', arguments: { city: 'Bern' } },
      { id: 'toolu_b', name: 'weather', arguments: {} },
    ]
    played.upstream.reply({ content: 'Let me see.', toolCalls, times: 2 })
    const { data, message } = await ask({ tools: [weather] })
    expect(data.choices[0]!.finish_reason).toBe('tool_calls')
    expect(message.tool_calls).toEqual([call('toolu_a', '{"city":"Bern"}'), call('toolu_b', '{}')])
    const runner = played.client.chat.completions.stream({ model, messages: hi, tools: [weather] })
    const streamed = (await runner.finalChatCompletion()).choices[0]!
    expect(streamed.finish_reason).toBe('tool_calls')
    expect(streamed.message.content).toBe('Let me see.')
    expect(streamed.message.tool_calls).toMatchObject(message.tool_calls!)
  })

  it('get their results together and first, with images and errors', async () => {
    const { sent } = await ask({
      tools: [weather],
      messages: [
        ...hi,
        { role: 'assistant', content: null, tool_calls: [call('a', '{"city":"Bern"}'), call('b', '')] },
        { role: 'tool', tool_call_id: 'a', content: 'sunny' },
        {
          role: 'tool',
          tool_call_id: 'b',
          is_error: true,
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } }],
        },
        { role: 'user', content: 'So?' },
      ],
    })
    expect(sent.messages).toEqual([
      ...hi,
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Bern' } },
          { type: 'tool_use', id: 'b', name: 'weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'sunny' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            is_error: true,
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
            ],
          },
          { type: 'text', text: 'So?' },
        ],
      },
    ])
  })

  it('called at another provider keep call and result together, whatever their ids', async () => {
    const { sent } = await ask({
      tools: [weather],
      messages: [
        ...hi,
        { role: 'assistant', tool_calls: [call('functions.weather:0', '{}')] },
        { role: 'tool', tool_call_id: 'functions.weather:0', content: 'x' },
      ],
    })
    const [, used, result] = sent.messages as { content: Fields[] }[]
    expect(used!.content[0]!.id).toMatch(/^toolu_[0-9a-f]{24}$/)
    expect(result!.content[0]!.tool_use_id).toBe(used!.content[0]!.id)
  })

  it('alone in a message whose text is empty are carried', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }
    const { sent } = await ask({
      tools: [weather],
      messages: [
        ...hi,
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a', content: 'sunny' },
      ],
    })
    expect(sent.messages).toMatchObject([
      {},
      { content: [{ type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Bern' } }] },
      {},
    ])
  })

  it('of a conversation that goes on without them are named, but not to be called', async () => {
    const { sent, changed } = await ask({
      messages: [
        ...hi,
        { role: 'assistant', tool_calls: [call('a', '{}')] },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    })
    expect(sent).toMatchObject({ tools: [{ name: 'weather' }], tool_choice: { type: 'none' } })
    expect(changed).toEqual(['+tools'])
  })

  it('with names that do not fit get others, and their own back in calls', async () => {
    const name = 'météo.ville'
    const tools = [{ type: 'function', function: { name } }]
    const choice = { type: 'function', function: { name } }
    const { sent, message } = await ask({ tools, tool_choice: choice })
    const [tool] = sent.tools as { name: string }[]
    expect(tool!.name).toMatch(/^[a-zA-Z0-9_-]{1,128}$/)
    expect(sent.tool_choice).toEqual({ type: 'tool', name: tool!.name })
    expect(message.tool_calls?.[0]).toMatchObject({ function: { name } })
    const chunks = await chunksOf({ tools, tool_choice: choice })
    const streamed = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls?.[0]?.function?.name ?? [])
    expect(streamed).toEqual([name])
  })

  it('called with arguments that are no object are refused by name', async () => {
    const messages = [...hi, { role: 'assistant', tool_calls: [call('a', '[1')] }]
    expect(await refused({ messages })).toMatchObject({
      status: 400,
      param: 'messages.1.tool_calls.0.function.arguments',
    })
  })
})

describe('structured output', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  }
  const response_format = { type: 'json_schema', json_schema: { name: 'out', strict: true, schema } }

  it('is asked for by its schema where the model takes one', async () => {
    const { sent, message } = await ask({ response_format })
    expect(sent.output_config).toEqual({ format: { type: 'json_schema', schema } })
    expect(message.content).toBe('{"n":1}')
  })

  it('is a tool that must be called for other models, and comes back as text', async () => {
    const fields = { response_format, model: 'claude-3-5-haiku-latest' }
    const { sent, data, message, changed } = await ask(fields)
    expect(sent).toMatchObject({ tool_choice: { type: 'tool' }, tools: [{ input_schema: schema }] })
    expect(changed).toEqual(['response_format:json_schema->tool'])
    expect(message).toMatchObject({ content: '{"n":1}' })
    expect(message.tool_calls).toBeUndefined()
    expect(data.choices[0]!.finish_reason).toBe('stop')
    const chunks = await chunksOf(fields)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('{"n":1}')
    expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('stop')
  })

  it('is asked for with a schema that the service takes, its other rules in words', async () => {
    const n = { type: 'integer', minimum: 3, description: 'A number' }
    const open = { type: 'object', properties: { n } }
    const { sent, changed } = await ask({
      response_format: { type: 'json_schema', json_schema: { name: 'out', schema: open } },
    })
    expect(sent.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { n: { type: 'integer', description: 'A number\nminimum: 3' } },
          additionalProperties: false,
        },
      },
    })
    expect(changed).toEqual([
      'response_format.schema:minimum->description',
      'response_format.schema:+additionalProperties',
    ])
  })

  it('is a tool where anything may stand in it, and words where there are tools', async () => {
    const map = { type: 'object', additionalProperties: { type: 'integer' } }
    const open = { type: 'json_schema', json_schema: { name: 'out', schema: map } }
    const { sent } = await ask({ response_format: open })
    expect(sent).toMatchObject({ tool_choice: { type: 'tool' }, tools: [{ input_schema: map }] })
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const told = await ask({ response_format: open, tools })
    expect(told.sent.system).toContain(JSON.stringify(map))
    expect(told.changed).toEqual(['response_format:json_schema->instruction'])
  })

  it('without a schema is asked for in words', async () => {
    const { sent, changed } = await ask({
      messages: [{ role: 'system', content: 'Be brief.' }, ...hi],
      response_format: { type: 'json_object' },
    })
    expect(sent.system).toMatch(/^Be brief\.\n\nAnswer with one JSON object/)
    expect(sent.messages).toHaveLength(1)
    expect(changed).toEqual(['response_format:json_object->instruction'])
  })

  it.each([false, true])(
    'a model that declines says so in words, not by the tool; streamed: %s',
    async (stream) => {
      const fields = { response_format, model: 'claude-3-5-haiku-latest' }
      played.upstream.reply({ refusal: 'I will not.', finishReason: 'refusal' })
      if (stream) {
        const chunks = await chunksOf(fields)
        expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('I will not.')
        expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('content_filter')
      } else {
        const { message, data } = await ask(fields)
        expect(message.content).toBe('I will not.')
        expect(data.choices[0]!.finish_reason).toBe('content_filter')
      }
    },
  )
})

describe('thinking', () => {
  it('is a budget below the limit, or an effort, by model', async () => {
    const high = { reasoning_effort: 'high' }
    const budget = await ask({ ...high, temperature: 0.2, max_tokens: 5000 })
    expect(budget.sent.thinking).toEqual({ type: 'enabled', budget_tokens: 4000 })
    expect(budget.changed).toEqual(['-temperature'])
    const adaptive = await ask({ ...high, model: 'claude-opus-4-6' })
    expect(adaptive.sent).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } })
    const small = await ask({ ...high, max_tokens: 1000 })
    expect(small.sent).not.toHaveProperty('thinking')
    expect(small.changed).toEqual(['-reasoning_effort'])
    expect((await ask({ ...high, model: 'claude-3-5-haiku-latest' })).changed).toEqual(['-reasoning_effort'])
  })

  it('comes with its signature, plain and streamed, and goes back unchanged in a tool loop', async () => {
    const thoughts = 'First “this”,\n then that. \u{1f600}'
    played.upstream.reply({
      reasoning: thoughts,
      toolCalls: [{ id: 't1', name: 'weather', arguments: { city: 'X' } }],
      times: 2,
    })
    const fields = { tools: [weather], reasoning_effort: 'low' }
    const { message } = await ask(fields)
    const details = [
      {
        type: 'reasoning.text',
        format: 'anthropic-claude-v1',
        index: 0,
        text: thoughts,
        signature: signatureOf(thoughts),
      },
    ]
    expect(message).toMatchObject({ reasoning_details: details, reasoning_content: thoughts })
    const runner = played.client.chat.completions.stream({ ...fields, model, messages: hi } as never)
    await runner.finalChatCompletion()
    const { sent } = await ask({
      ...fields,
      messages: [...hi, message, { role: 'tool', tool_call_id: 't1', content: 'sunny' }],
    })
    expect(sent.thinking).toMatchObject({ type: 'enabled' })
    const back = [
      { type: 'thinking', thinking: thoughts, signature: signatureOf(thoughts) },
      { type: 'tool_use', id: 't1', name: 'weather', input: { city: 'X' } },
    ]
    expect((sent.messages as { content: unknown[] }[])[1]!.content).toEqual(back)

    const piece = { type: 'reasoning.text', format: 'anthropic-claude-v1', index: 0 }
    const reasoning_details = [
      { ...piece, text: thoughts.slice(0, 5) },
      { ...piece, text: thoughts.slice(5) },
      { ...piece, signature: signatureOf(thoughts) },
    ]
    const inPieces = await ask({
      ...fields,
      messages: [
        ...hi,
        { ...message, reasoning_details },
        { role: 'tool', tool_call_id: 't1', content: 'x' },
      ],
    })
    expect((inPieces.sent.messages as { content: unknown[] }[])[1]!.content).toEqual(back)
  })

  it('that was lost on the way is given up for the rest of the loop', async () => {
    const { changed, sent } = await ask({
      tools: [weather],
      reasoning_effort: 'low',
      messages: [
        ...hi,
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ],
    })
    expect(sent).not.toHaveProperty('thinking')
    expect(changed).toEqual(['-reasoning_effort'])
  })

  it('of another provider is not passed off as Claude’s', async () => {
    const reasoning_details = [{ type: 'reasoning.text', format: 'other-v1', text: 'x', signature: 's' }]
    const { sent, changed } = await ask({
      messages: [...hi, { role: 'assistant', content: 'a', reasoning_details }, ...hi],
    })
    expect((sent.messages as object[])[1]).toEqual({ role: 'assistant', content: 'a' })
    expect(changed).toEqual(['-messages.reasoning_details'])
  })
})

describe('endings', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
  ])('%s is %s, its own word beside it', async (native, reason) => {
    played.upstream.reply({ finishReason: native, times: 2 })
    expect((await ask()).data.choices[0]).toMatchObject({
      finish_reason: reason,
      native_finish_reason: native,
    })
    expect((await chunksOf()).at(-1)!.choices[0]).toMatchObject({
      finish_reason: reason,
      native_finish_reason: native,
    })
  })
})

describe('usage', () => {
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 1000,
    cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
    output_tokens: 7,
  }
  const counted = {
    prompt_tokens: 1110,
    completion_tokens: 7,
    total_tokens: 1117,
    prompt_tokens_details: { cached_tokens: 100, cache_write_5m_tokens: 400, cache_write_1h_tokens: 600 },
  }

  it('counts all of the prompt, and cached tokens by class', async () => {
    played.upstream.reply({ usage })
    const { data } = await ask()
    expect(data.usage).toEqual(counted)
  })

  it('of a stream replaces earlier figures, and is in the trace', async () => {
    played.upstream.reply({ usage })
    const { data, response } = await played.client.chat.completions
      .create({ model, messages: hi, stream: true, stream_options: { include_usage: true } })
      .withResponse()
    let last: unknown
    for await (const chunk of data) last = chunk.usage ?? last
    expect(last).toEqual(counted)
    const trace = await played.gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
    expect(trace.body.usage).toMatchObject({ input: 1110, output: 7 })
  })
})

describe('failures', () => {
  it.each([
    [400, 400, 'bad_request'],
    [401, 502, 'provider_error'],
    [404, 404, 'not_found'],
    [413, 413, 'bad_request'],
    [429, 429, 'rate_limited'],
    [500, 502, 'provider_error'],
    [529, 503, 'provider_error'],
  ])('%i is %i to the client', async (status, seen, code) => {
    played.upstream.reply({ status, ...(status === 429 && { retryAfter: 3 }) })
    const error = await refused({})
    expect(error).toMatchObject({ status: seen, code, message: expect.stringContaining('anthropic') })
    if (status === 429) expect((error as { headers: Headers }).headers.get('retry-after')).toBe('3')
  })

  it('that are wrong requests say what is wrong', async () => {
    expect(await refused({ max_tokens: 0 })).toMatchObject({
      status: 400,
      message: expect.stringContaining('max_tokens'),
    })
  })

  it('inside a stream are errors, before and after the first content', async () => {
    const frame = (data: { type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
    const start = frame({ type: 'message_start', message: { id: 'm', model, usage: {} } } as never)
    const text = [
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never),
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } } as never),
    ]
    const error = frame({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    } as never)
    played.upstream.reply({ chunks: [start, error] })
    await expect(chunksOf()).rejects.toMatchObject({ status: 503 })
    played.upstream.reply({ chunks: [start, ...text, error] })
    await expect(chunksOf()).rejects.toThrow('Overloaded')
    played.upstream.reply({ chunks: [start, ...text] })
    await expect(chunksOf()).rejects.toThrow('in the middle')
    played.upstream.reply({ chunks: [start, ...text], cutAfter: 3 })
    await expect(chunksOf()).rejects.toThrow()
  })

  it('of the client to wait reach the provider', async () => {
    played.upstream.reply({ content: ['a ', 'b ', 'c '], hangAfter: 5 })
    const stream = await played.client.chat.completions.create({ model, messages: hi, stream: true })
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break
    await played.upstream.last().closed
    expect(played.upstream.last().aborted).toBe(true)
  })
})

it('is checked with a real request, which lists its models', async () => {
  const { status } = await played.gateway.api('POST', '/api/proxy/providers/anthropic/check')
  expect(status).toBe(200)
  expect(played.upstream.last()).toMatchObject({ method: 'GET', path: '/v1/models', key: 'key-of-anthropic' })
})
