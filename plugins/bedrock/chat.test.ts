import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CompletionChunk } from '#kernel'
import { Assembler } from '#kit'
import { ProviderDirectory } from '#provider'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { traceOf } from '../../test/trace.ts'
import { eventFrame, exceptionFrame, signatureOf } from '../../test/upstream/bedrock/index.ts'
import { bedrock, startUpstream, type Upstream } from '../../test/upstream/index.ts'

const signing = 'AKIDEXAMPLE00000001:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const session = 'ASIDEXAMPLE00000002:secret/of+the=session:a+token/of=it'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI
let userKey: string

beforeAll(async () => {
  upstream = await startUpstream({ wires: [bedrock], apiKey: [signing, session, 'ABSKapikey='] })
  const base_url = upstream.baseUrl()
  gateway = await startGateway({
    config: {
      providers: {
        bedrock: {
          base_url,
          api_key: signing,
          options: {
            profiles: { 'amazon.nova-lite-v1:0': 'arn:aws:bedrock:eu-west-1:1:inference-profile/x.y' },
          },
        },
        session: { type: 'bedrock', base_url, api_key: `${session}@eu-central-1` },
        bearer: { type: 'bedrock', base_url, api_key: 'ABSKapikey=' },
        wrong: { type: 'bedrock', base_url, api_key: 'AKIDEXAMPLE00000001:another' },
        guarded: {
          type: 'bedrock',
          base_url,
          api_key: signing,
          options: { guardrail: { id: 'gr1', version: 1 } },
        },
      },
    },
  })
  await bareChain(gateway)
  userKey = (await gateway.signUp()).key
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const hi = [{ role: 'user' as const, content: 'hi' }]
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, additionalProperties: false },
  },
}
const cities = [
  { id: 'tooluse_a', name: 'weather', arguments: { city: 'Rome' } },
  { id: 'tooluse_b', name: 'weather', arguments: {} },
]

type Fields = Record<string, unknown>

async function ask(fields: Fields = {}) {
  const { data, response } = await client.chat.completions
    .create({ model, messages: hi, ...fields } as OpenAI.ChatCompletionCreateParamsNonStreaming)
    .withResponse()
  const changed = response.headers.get('x-params-changed')?.split(', ') ?? []
  const choice = data.choices[0]!
  const message = choice.message as unknown as typeof choice.message & Fields
  return { data, response, choice, message, changed, sent: upstream.last().body as Fields }
}

/** The chunks that the client got, put together. */
async function askStreamed(fields: Fields = {}) {
  const stream = await client.chat.completions.create({
    model,
    messages: hi,
    stream_options: { include_usage: true },
    ...fields,
    stream: true,
  } as OpenAI.ChatCompletionCreateParamsStreaming)
  const assembler = new Assembler()
  for await (const chunk of stream) assembler.add(chunk as unknown as CompletionChunk)
  const data = JSON.parse(JSON.stringify(assembler.completion())) as OpenAI.ChatCompletion
  return { data, choice: data.choices[0]!, message: data.choices[0]!.message as unknown as Fields }
}

const failureOf = (fields: Fields) =>
  ask(fields).then(
    () => expect.unreachable('it should fail'),
    (error: unknown) => error as InstanceType<typeof OpenAI.APIError>,
  )

describe('a call', () => {
  it('answers plain and streamed alike', async () => {
    const { data, choice, sent } = await ask()
    expect(data).toMatchObject({ object: 'chat.completion', model })
    expect(choice).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'end_turn' })
    expect(choice.message.content).toBe('You said: hi')
    expect(sent).toEqual({ messages: [{ role: 'user', content: [{ text: 'hi' }] }] })
    const streamed = await askStreamed()
    expect(streamed.choice).toMatchObject({ finish_reason: 'stop', native_finish_reason: 'end_turn' })
    expect(streamed.message.content).toBe('You said: hi')
    const name = encodeURIComponent(model)
    expect(upstream.requests.map(({ path }) => path)).toEqual([
      `/model/${name}/converse`,
      `/model/${name}/converse-stream`,
    ])
  })

  it('reaches ARNs, whatever stands in them, and the profile that a model is mapped to', async () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2(c)'
    await ask({ model: `bedrock/${arn}` })
    expect(decodeURIComponent(upstream.last().path)).toBe(`/model/${arn}/converse`)
    await ask({ model: 'bedrock/amazon.nova-lite-v1:0' })
    expect(upstream.last().path).toContain('inference-profile%2Fx.y')
  })

  it('is signed for the region, with a session’s token too, or carries a key of Bedrock’s own', async () => {
    await ask()
    expect(upstream.last().headers.authorization).toContain('/us-east-1/bedrock/aws4_request')
    await ask({ model: `session/${model}` })
    expect(upstream.last().headers.authorization).toContain('/eu-central-1/bedrock/aws4_request')
    await ask({ model: `bearer/${model}` })
    expect(upstream.last().key).toBe('ABSKapikey=')
  })

  it('tells what was read, cached and written, and what it cost', async () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 165,
      cacheReadInputTokens: 100,
      cacheWriteInputTokens: 50,
      cacheDetails: [
        { ttl: '1h', inputTokens: 20 },
        { ttl: '5m', inputTokens: 30 },
      ],
    }
    upstream.reply({ usage, times: 2 })
    const expected = {
      prompt_tokens: 160,
      completion_tokens: 5,
      total_tokens: 165,
      prompt_tokens_details: { cached_tokens: 100, cache_write_5m_tokens: 30, cache_write_1h_tokens: 20 },
    }
    const { data, response } = await ask()
    expect(data.usage).toEqual(expected)
    expect((await askStreamed()).data.usage).toEqual(expected)
    const trace = await traceOf(gateway, response)
    expect(trace.usage).toMatchObject({ input: 160, output: 5, cached_read: 100 })
    expect(trace.cost_usd).toBeGreaterThan(0)
  })

  it('that the client leaves is left by the gateway', async () => {
    upstream.reply({ hangAfter: 3 })
    const left = new AbortController()
    const stream = await client.chat.completions.create(
      { model, messages: hi, stream: true },
      { signal: left.signal },
    )
    for await (const { choices } of stream) if (choices[0]?.delta.content) left.abort()
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
  })
})

describe('the conversation', () => {
  it('has system texts apart, neighbours merged, blank texts gone', async () => {
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
    expect(sent).toEqual({
      system: [{ text: 'Be brief.' }, { text: 'Be kind.' }],
      messages: [
        { role: 'user', content: [{ text: 'a' }, { text: 'b' }, { cachePoint: { type: 'default' } }] },
        { role: 'assistant', content: [{ text: 'c' }] },
        { role: 'user', content: [{ text: 'd' }] },
      ],
    })
  })

  it('shows images, documents under names that differ, and files in S3', async () => {
    const pdf = {
      type: 'file',
      file: { filename: 'a_b.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    }
    const { sent } = await ask({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
            pdf,
            pdf,
            { type: 'video_url', video_url: { url: 's3://bucket/a.mp4' } },
          ],
        },
      ],
    })
    const source = { bytes: 'JVBERi0=' }
    expect(sent.messages).toEqual([
      {
        role: 'user',
        content: [
          { text: 'Look' },
          { image: { format: 'png', source: { bytes: 'aGk=' } } },
          { document: { format: 'pdf', name: 'a b', source } },
          { document: { format: 'pdf', name: 'a b 2', source } },
          { video: { format: 'mp4', source: { s3Location: { uri: 's3://bucket/a.mp4' } } } },
        ],
      },
    ])
  })

  it('of a client of Anthropic’s arrives whole, and its answer goes back in that client’s form', async () => {
    upstream.reply({ reasoning: 'Hm.', toolCalls: cities.slice(0, 1) })
    const { status, body } = await gateway.api(
      'POST',
      '/v1/messages',
      {
        model,
        max_tokens: 5000,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        messages: hi,
        thinking: { type: 'enabled', budget_tokens: 2000 },
        stop_sequences: ['END'],
        tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      },
      userKey,
    )
    expect(status).toBe(200)
    expect(body.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: signatureOf('Hm.') },
      { type: 'tool_use', id: 'tooluse_a', name: 'weather', input: { city: 'Rome' } },
    ])
    expect(upstream.last().body).toEqual({
      system: [{ text: 'Be brief.' }, { cachePoint: { type: 'default', ttl: '1h' } }],
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 5000, stopSequences: ['END'] },
      toolConfig: { tools: [{ toolSpec: { name: 'weather', inputSchema: { json: { type: 'object' } } } }] },
      additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2000 } },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
    })
  })
})

describe('what only Claude’s clients send', () => {
  const found = {
    type: 'search_result',
    source: 'https://example.com/a',
    title: 'Article',
    content: [{ type: 'text', text: 'Grass is green.' }],
    citations: { enabled: true },
  }
  const asked = [{ role: 'user' as const, content: [found, { type: 'text', text: 'Which colour?' }] }]

  it('arrives at Claude as it was, and elsewhere as a text', async () => {
    const { sent } = await ask({ messages: asked })
    const { type: _, content, ...own } = found
    expect((sent.messages as Fields[])[0]!.content).toEqual([
      { searchResult: { ...own, content: [{ text: content[0]!.text }] } },
      { text: 'Which colour?' },
    ])
    const other = await ask({ model: 'bedrock/amazon.nova-pro-v1:0', messages: asked })
    expect((other.sent.messages as Fields[])[0]!.content).toEqual([
      { text: 'Article\n\nGrass is green.' },
      { text: 'Which colour?' },
    ])
  })

  it('of betas reaches Claude as far as Bedrock has them', async () => {
    const headers = { 'anthropic-beta': 'claude-code-20250219, interleaved-thinking-2025-05-14' }
    const { response } = await client.chat.completions
      .create({ model, messages: hi }, { headers })
      .withResponse()
    const { additionalModelRequestFields: fields } = upstream.last().body as Fields
    expect(fields).toEqual({ anthropic_beta: ['interleaved-thinking-2025-05-14'] })
    expect(response.headers.get('x-params-changed')).toBe('-anthropic-beta')
  })
})

describe('tools', () => {
  const toolSpec = {
    name: 'weather',
    description: 'The weather in a city',
    inputSchema: { json: weather.function.parameters },
  }

  it('go with their whole schema and the choice', async () => {
    const chosen = async (tool_choice: unknown) =>
      (await ask({ tools: [weather], tool_choice })).sent.toolConfig
    const tools = [{ toolSpec }]
    expect(await chosen('auto')).toEqual({ tools })
    expect(await chosen('required')).toEqual({ tools, toolChoice: { any: {} } })
    expect(await chosen({ type: 'function', function: { name: 'weather' } })).toEqual({
      tools,
      toolChoice: { tool: { name: 'weather' } },
    })
    expect(await chosen('none')).toBeUndefined()
  })

  it('are called one at a time where that can be asked for', async () => {
    const single = { tools: [weather], parallel_tool_calls: false }
    const { sent, changed } = await ask(single)
    expect(sent.additionalModelRequestFields).toEqual({
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
    expect(changed).toEqual([])
    expect((await ask({ ...single, tool_choice: 'required' })).changed).toEqual(['-parallel_tool_calls'])
    expect((await ask({ ...single, model: 'bedrock/amazon.nova-pro-v1:0' })).changed).toEqual([
      '-parallel_tool_calls',
    ])
  })

  it('are called in parallel, plain and streamed alike, without arguments too', async () => {
    upstream.reply({ content: 'I will look.', toolCalls: cities, times: 2 })
    const expected = {
      finish_reason: 'tool_calls',
      message: {
        content: 'I will look.',
        tool_calls: [
          { id: 'tooluse_a', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
          { id: 'tooluse_b', function: { name: 'weather', arguments: '{}' } },
        ],
      },
    }
    expect((await ask({ tools: [weather] })).choice).toMatchObject(expected)
    expect((await askStreamed({ tools: [weather] })).choice).toMatchObject(expected)
  })

  it('get their results together and first, with images and errors, whatever the ids', async () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'weather', arguments: '' } })
    const { sent } = await ask({
      tools: [weather],
      messages: [
        ...hi,
        { role: 'assistant', tool_calls: [call('functions.weather:0'), call('b')] },
        { role: 'tool', tool_call_id: 'functions.weather:0', content: 'sunny' },
        {
          role: 'tool',
          tool_call_id: 'b',
          is_error: true,
          content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }],
        },
        { role: 'user', content: 'So?' },
      ],
    })
    const [, asked, answered] = sent.messages as { content: Record<string, Fields>[] }[]
    const id = asked!.content[0]!.toolUse!.toolUseId
    expect(id).toMatch(/^functions_weather_0_[0-9a-f]{12}$/)
    expect(answered!.content).toEqual([
      { toolResult: { toolUseId: id, content: [{ text: 'sunny' }] } },
      {
        toolResult: {
          toolUseId: 'b',
          content: [{ image: { format: 'png', source: { bytes: 'aGk=' } } }],
          status: 'error',
        },
      },
      { text: 'So?' },
    ])
  })

  it('of a conversation that goes on without them are named, since it cannot otherwise', async () => {
    const messages = [
      ...hi,
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    const without = await ask({ messages })
    expect(without.sent).toMatchObject({ toolConfig: { tools: [{ toolSpec: { name: 'f' } }] } })
    expect(without.changed).toEqual(['+tools'])
    const forbidden = await ask({ messages, tools: [weather], tool_choice: 'none' })
    expect(forbidden.changed).toEqual(['tool_choice:none->auto'])
  })

  it('with names that do not fit get others, and their own back in calls', async () => {
    const name = 'météo.ville'
    const fields = {
      tools: [{ type: 'function', function: { name } }],
      tool_choice: { type: 'function', function: { name } },
    }
    expect((await ask(fields)).message.tool_calls?.[0]).toMatchObject({ function: { name } })
    expect((await askStreamed(fields)).message.tool_calls).toMatchObject([{ function: { name } }])
  })
})

describe('reasoning', () => {
  it.each([false, true])(
    'survives a tool loop of three turns byte for byte (streamed: %s)',
    async (streamed) => {
      const thoughts = ['First “this”.', 'Then\nthat. 🎉', 'Done.']
      const messages: object[] = [...hi]
      for (const [turn, reasoning] of thoughts.entries()) {
        const toolCalls =
          turn < 2 ? [{ id: `t${turn}`, name: 'weather', arguments: { city: 'Rome' } }] : undefined
        upstream.reply({ reasoning, ...(toolCalls ? { toolCalls } : { content: 'Sunny.' }) })
        const fields = { messages, tools: [weather], reasoning_effort: 'low', max_tokens: 9000 }
        const { message } = streamed ? await askStreamed(fields) : await ask(fields)
        expect(message.reasoning_content).toBe(reasoning)
        messages.push(message)
        if (toolCalls) messages.push({ role: 'tool', tool_call_id: `t${turn}`, content: 'sunny' })
      }
      await ask({
        messages: [...messages, ...hi],
        tools: [weather],
        reasoning_effort: 'low',
        max_tokens: 9000,
      })
      const { messages: sent } = upstream.last().body as { messages: { content: object[] }[] }
      const reasoned = sent.flatMap(({ content }) => content.filter((block) => 'reasoningContent' in block))
      expect(reasoned).toEqual(
        thoughts.map((text) => ({
          reasoningContent: { reasoningText: { text, signature: signatureOf(text) } },
        })),
      )
    },
  )

  it('that may not be read goes back as it came', async () => {
    const chunks = [
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockDelta', {
        delta: { reasoningContent: { redactedContent: 'c2VjcmV0' } },
        contentBlockIndex: 0,
      }),
      eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
      eventFrame('contentBlockDelta', { delta: { text: 'a' }, contentBlockIndex: 1 }),
      eventFrame('messageStop', { stopReason: 'end_turn' }),
    ]
    upstream.reply({ chunks })
    const { message } = await askStreamed()
    const { sent } = await ask({ messages: [...hi, message, ...hi] })
    expect((sent.messages as unknown[])[1]).toEqual({
      role: 'assistant',
      content: [{ reasoningContent: { redactedContent: 'c2VjcmV0' } }, { text: 'a' }],
    })
  })

  it('is asked for in each maker’s own words, or said to be left out', async () => {
    const more = async (name: string) => {
      const { sent, changed } = await ask({ model: `bedrock/${name}`, reasoning_effort: 'minimal' })
      return [sent.additionalModelRequestFields, changed]
    }
    expect(await more('anthropic.claude-opus-4-1-20250805-v1:0')).toEqual([
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      [],
    ])
    expect(await more('anthropic.claude-sonnet-4-6')).toEqual([
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      ['reasoning_effort:minimal->low'],
    ])
    expect(await more('us.amazon.nova-2-lite-v1:0')).toEqual([
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
      ['reasoning_effort:minimal->low'],
    ])
    expect(await more('openai.gpt-oss-120b-1:0')).toEqual([
      { reasoning_effort: 'low' },
      ['reasoning_effort:minimal->low'],
    ])
    expect(await more('meta.llama3-3-70b-instruct-v1:0')).toEqual([undefined, ['-reasoning_effort']])
  })
})

describe('an answer by a schema', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    additionalProperties: false,
  }
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema } }

  it('is asked for as such where the model can, plain and streamed', async () => {
    const { sent, choice } = await ask({ response_format })
    expect(sent.outputConfig).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: 'n', schema: JSON.stringify(schema) } },
      },
    })
    expect(choice.message.content).toBe('{"a":1}')
    expect((await askStreamed({ response_format })).message.content).toBe('{"a":1}')
  })

  it('is a tool that must be called where it cannot', async () => {
    const older = { model: 'bedrock/amazon.nova-pro-v1:0', response_format }
    const expected = { finish_reason: 'stop', message: { content: '{"a":1}' } }
    const { sent, choice } = await ask(older)
    expect(sent.toolConfig).toMatchObject({ toolChoice: { tool: { name: 'answer' } } })
    expect(choice).toMatchObject(expected)
    expect(choice.message).not.toHaveProperty('tool_calls')
    expect((await askStreamed(older)).choice).toMatchObject(expected)
    const told = await ask({ ...older, tools: [weather] })
    expect(told.changed).toEqual(['response_format:json_schema->instruction'])
    expect(told.sent.system).toEqual([{ text: expect.stringContaining(JSON.stringify(schema)) }])
    const thinking = { type: 'enabled', budget_tokens: 2000 }
    const thoughtful = { model: 'bedrock/anthropic.claude-opus-4-1-20250805-v1:0', response_format, thinking }
    expect((await ask(thoughtful)).changed).toEqual(['response_format:json_schema->tool', '-thinking'])
  })
})

describe('parameters', () => {
  it('are carried, clamped or dropped, and every change is told', async () => {
    const { sent, changed } = await ask({
      max_completion_tokens: 50,
      temperature: 1.7,
      top_p: 0.5,
      top_k: 5,
      stop: ['END', ' '],
      user: 'u1',
      seed: 7,
      n: 1,
      logprobs: false,
      service_tier: 'flex',
      parallel_tool_calls: true,
      guardrail_config: { guardrailIdentifier: 'g', guardrailVersion: 'DRAFT' },
      additional_model_request_fields: { anthropic_beta: ['context-1m-2025-08-07'] },
    })
    expect(sent).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 50, temperature: 1, stopSequences: ['END'] },
      additionalModelRequestFields: { top_k: 5, anthropic_beta: ['context-1m-2025-08-07'] },
      additionalModelResponseFieldPaths: ['/stop_sequence'],
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: 'DRAFT' },
      serviceTier: { type: 'flex' },
    })
    expect(changed.toSorted()).toEqual(['temperature:1.7->1', '-top_p', '-stop', '-user', '-seed'].toSorted())
  })

  it('leave out a tool of another service beside functions', async () => {
    const { sent, changed } = await ask({ tools: [{ type: 'web_search' }, weather] })
    expect(sent.toolConfig).toMatchObject({ tools: [{ toolSpec: { name: 'weather' } }] })
    expect(changed).toEqual(['-tools.web_search'])
  })

  it.each<[asked: Fields, param: string]>([
    [{ n: 2 }, 'n'],
    [{ functions: [{}] }, 'functions'],
    [{ tools: [{ type: 'web_search' }] }, 'tools.0.type'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ reasoning_effort: 'lots' }, 'reasoning_effort'],
    [{ messages: [{ role: 'function', name: 'f', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id'],
    [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages.0.content.0.type'],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'ftp://x.example/a' } }] },
        ],
      },
      'messages.0.content.0.image_url.url',
    ],
  ])('%j is refused, and the field is named', async (asked, param) => {
    expect(await failureOf(asked)).toMatchObject({ status: 400, param })
    expect(upstream.requests).toHaveLength(0)
  })

  it('have the guardrail of the configuration, and what it stops is filtered', async () => {
    upstream.reply({ content: 'Sorry.', finishReason: 'guardrail_intervened', times: 2 })
    const guarded = { model: `guarded/${model}` }
    expect((await ask(guarded)).choice).toMatchObject({
      finish_reason: 'content_filter',
      native_finish_reason: 'guardrail_intervened',
    })
    await askStreamed(guarded)
    expect(upstream.last().body).toMatchObject({
      guardrailConfig: { guardrailIdentifier: 'gr1', guardrailVersion: '1', streamProcessingMode: 'sync' },
    })
  })

  it('tell which stop sequence it was', async () => {
    const body = {
      output: { message: { role: 'assistant', content: [{ text: 'a' }] } },
      stopReason: 'stop_sequence',
      additionalModelResponseFields: { stop_sequence: 'END' },
    }
    upstream.reply({ body })
    expect((await ask({ stop: 'END' })).choice).toMatchObject({ finish_reason: 'stop', stop_sequence: 'END' })
  })
})

describe('failures', () => {
  it.each([
    [400, 400, 'bad_request'],
    [404, 404, 'not_found'],
    [408, 504, 'provider_error'],
    [424, 502, 'provider_error'],
    [500, 502, 'provider_error'],
    [503, 503, 'provider_error'],
  ])('with the status %i are %i', async (status, expected, code) => {
    upstream.reply({ status })
    expect(await failureOf({})).toMatchObject({ status: expected, code })
  })

  it('of the account’s quota are limits, though the service blames the request', async () => {
    upstream.reply({ status: 400, error: { type: 'ServiceQuotaExceededException' } })
    expect(await failureOf({})).toMatchObject({ status: 429, code: 'rate_limited' })
  })

  it('of throttling say when to come back', async () => {
    upstream.reply({ retryAfter: 3 })
    const error = await failureOf({})
    expect(error).toMatchObject({ status: 429, code: 'rate_limited' })
    expect(error.headers?.get('retry-after')).toBe('3')
  })

  it('of the key are the gateway’s, and do not show it', async () => {
    const error = await failureOf({ model: `wrong/${model}` })
    expect(error).toMatchObject({ status: 502, code: 'provider_error' })
    expect(String(error)).toContain('InvalidSignatureException')
    expect(String(error)).not.toContain('another')
  })

  it.each([
    ['throttlingException', 429],
    ['validationException', 400],
    ['serviceUnavailableException', 503],
    ['modelStreamErrorException', 502],
  ])('that open a stream have their own status: %s', async (name, status) => {
    upstream.reply({ chunks: [exceptionFrame(name, { message: 'no' })] })
    expect(await askStreamed().catch((error: unknown) => error)).toMatchObject({ status })
  })

  it('in the midst of a stream end it as an error, never as an answer', async () => {
    const begun = [
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockDelta', { delta: { text: 'a' }, contentBlockIndex: 0 }),
    ]
    for (const more of [[exceptionFrame('throttlingException', { message: 'Slow down.' })], []]) {
      upstream.reply({ chunks: [...begun, ...more], gapMs: 20 })
      const texts: string[] = []
      const reading = (async () => {
        const stream = await client.chat.completions.create({ model, messages: hi, stream: true })
        for await (const { choices } of stream) {
          texts.push(choices[0]?.delta.content ?? '')
          expect(choices[0]?.finish_reason ?? null).toBeNull()
        }
      })()
      await expect(reading).rejects.toThrow(more.length > 0 ? /Slow down/ : /in the middle of the answer/)
      expect(texts.join('')).toBe('a')
    }
  })

  it('of the model itself are failures, not answers', async () => {
    upstream.reply({ finishReason: 'malformed_tool_use' })
    expect(await failureOf({})).toMatchObject({ status: 502 })
    upstream.reply({ body: '<html>' })
    expect(await failureOf({})).toMatchObject({ status: 502 })
  })
})

describe('a key', () => {
  it('of a user’s own is checked for its form, and then used', async () => {
    const put = (api_key: string) =>
      gateway.api('PUT', '/api/auth/me/providers/bedrock', { api_key }, userKey)
    for (const [wrong, said] of [
      ['AKIDEXAMPLE00000001', /no secret/],
      ['AKIDEXAMPLE00000001:secret@nowhere', /region/],
      ['lower:secret', /ACCESS_KEY_ID/],
      ['{"access_key_id":"AKIDEXAMPLE00000001"}', /secret_access_key/],
      ['{"access_key_id":', /not JSON/],
      ['ABSKapikey=\nx-other: header', /spaces or line breaks/],
      ['{"access_key_id":"AKIDEXAMPLE00000001","secret_access_key":"a b"}', /no spaces/],
    ] as const) {
      const { status, body } = await put(wrong)
      expect([status, body.error.param]).toEqual([400, 'api_key'])
      expect(body.error.message).toMatch(said)
    }
    const [access_key_id, secret_access_key, session_token] = session.split(':')
    const json = { access_key_id, secret_access_key, session_token, region: 'ap-southeast-2' }
    expect((await put(JSON.stringify(json, null, 2))).status).toBe(200)
    await ask()
    expect(upstream.last().headers.authorization).toContain('ASIDEXAMPLE00000002')
    expect(upstream.last().headers.authorization).toContain('/ap-southeast-2/')
    await gateway.api('DELETE', '/api/auth/me/providers/bedrock', undefined, userKey)
  })

  it('is really tried when the provider is checked', async () => {
    const { body } = await gateway.api('POST', '/api/proxy/providers/bedrock/check')
    expect(body).toMatchObject({ name: 'bedrock', status: 'healthy' })
    expect(upstream.last()).toMatchObject({ method: 'GET', path: '/foundation-models' })
    expect(gateway.kernel.service(ProviderDirectory)!.namesOf('bedrock')).toEqual([
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
      'amazon.nova-pro-v1:0',
      'amazon.titan-embed-text-v2:0',
    ])
    const wrong = await gateway.api('POST', '/api/proxy/providers/wrong/check')
    expect(wrong.body.status).toBe('down')
  })

  it('is found in the usual variables, with the region’s own address', async () => {
    const env = {
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE00000001',
      AWS_SECRET_ACCESS_KEY: 's',
      AWS_REGION: 'eu-west-3',
    }
    const other = await startGateway({ env })
    const provider = other.kernel.service(ProviderDirectory)!.get('bedrock')
    await other.close()
    expect(provider).toMatchObject({
      baseUrl: 'https://bedrock-runtime.eu-west-3.amazonaws.com',
      configured: true,
      keySource: 'environment',
    })
    expect(provider.keys[0]!.secret).toBe('AKIDEXAMPLE00000001:s:')
  })
})
