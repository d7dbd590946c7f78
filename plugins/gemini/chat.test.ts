import type OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { ProviderDirectory } from '#provider'
import { sharedProvider } from '../../test/played.ts'
import { traceOf } from '../../test/trace.ts'
import { gemini } from '../../test/upstream/index.ts'

const played = sharedProvider('gemini', gemini)

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming
const model = 'gemini-2.5-flash'
const messages: Body['messages'] = [{ role: 'user', content: 'hi' }]
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

async function ask(fields: Record<string, unknown> = {}) {
  const { data, response } = await played.client.chat.completions
    .create({ model, messages, ...fields } as Body)
    .withResponse()
  return { data, response, sent: played.upstream.last().body }
}

async function askStreamed(fields: Record<string, unknown> = {}) {
  const stream = played.client.chat.completions.stream({
    model,
    messages,
    stream_options: { include_usage: true },
    ...fields,
  } as Parameters<typeof played.client.chat.completions.stream>[0])
  return await stream.finalChatCompletion()
}

it('answers plain and streamed alike', async () => {
  const { data } = await ask()
  expect(data).toMatchObject({
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'You said: hi' }, finish_reason: 'stop' }],
  })
  const streamed = await askStreamed()
  expect(streamed.choices[0]).toMatchObject({
    message: { role: 'assistant', content: 'You said: hi' },
    finish_reason: 'stop',
  })
  expect(streamed.usage).toMatchObject({ prompt_tokens: data.usage!.prompt_tokens })
})

it('sends the key in a header and never in the address', async () => {
  await ask()
  await askStreamed()
  for (const { headers, path, query } of played.upstream.requests) {
    expect(headers['x-goog-api-key']).toBe('key-of-gemini')
    expect(headers).not.toHaveProperty('authorization')
    expect(`${path}?${query}`).not.toContain('key')
  }
  expect(played.upstream.requests.map(({ path }) => path)).toEqual([
    '/v1beta/models/gemini-2.5-flash:generateContent',
    '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
  ])
})

it('counts what was cached and what was thought', async () => {
  const usage = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 30,
    toolUsePromptTokenCount: 5,
    totalTokenCount: 155,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 70 },
      { modality: 'IMAGE', tokenCount: 20 },
      { modality: 'AUDIO', tokenCount: 10 },
    ],
    cacheTokensDetails: [
      { modality: 'TEXT', tokenCount: 45 },
      { modality: 'IMAGE', tokenCount: 15 },
    ],
  }
  played.upstream.reply({ usage, times: 2, reasoning: 'Hm.', content: ['a', 'b'] })
  const { data, response } = await ask()
  const expected = {
    prompt_tokens: 105,
    completion_tokens: 50,
    total_tokens: 155,
    prompt_tokens_details: { cached_tokens: 60, audio_tokens: 10, image_tokens: 5 },
    completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 0 },
  }
  expect(data.usage).toEqual(expected)
  expect(data.choices[0]!.message).toMatchObject({ content: 'ab', reasoning_content: 'Hm.' })
  expect((await askStreamed()).usage).toEqual(expected)
  const { usage: traced } = await traceOf(played.gateway, response)
  expect(traced).toMatchObject({ input: 105, output: 50, cached_read: 60, image_in: 5, reasoning: 30 })
})

it('gives as many answers as were asked for', async () => {
  const { data } = await ask({ n: 2 })
  expect(data.choices.map(({ index }) => index)).toEqual([0, 1])
  expect((await askStreamed({ n: 2 })).choices.map(({ message }) => message.content)).toEqual([
    'You said: hi',
    'You said: hi',
  ])
})

it('takes images as data and as addresses', async () => {
  const image = (url: string) => ({ type: 'image_url' as const, image_url: { url } })
  const { sent } = await ask({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          image('data:image/png;base64,aGk='),
          image('https://example.com/a/b.JPG?x=1'),
          { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,aGk=', filename: 'a.pdf' } },
        ],
      },
    ],
  })
  expect(sent).toMatchObject({
    contents: [
      {
        role: 'user',
        parts: [
          { text: 'Look' },
          { inlineData: { mimeType: 'image/png', data: 'aGk=' } },
          { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.com/a/b.JPG?x=1' } },
          { inlineData: { mimeType: 'audio/wav', data: 'aGk=' } },
          { inlineData: { mimeType: 'application/pdf', data: 'aGk=' } },
        ],
      },
    ],
  })
})

it('answers by a schema', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
  const response_format = { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } }
  played.upstream.reply({ content: '{"a":"b"}', times: 2 })
  const { data, sent } = await ask({ response_format })
  expect(JSON.parse(data.choices[0]!.message.content!)).toEqual({ a: 'b' })
  expect(sent).toMatchObject({
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  })
  await ask({ model: 'gemini-2.0-flash', response_format })
  expect(played.upstream.last().body).toMatchObject({
    generationConfig: {
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
    },
  })
})

describe('tools', () => {
  const cities = [
    { name: 'weather', arguments: { city: 'Rome' } },
    { name: 'weather', arguments: { city: 'Oslo' } },
  ]

  it('are called in parallel, plain and streamed, each with an id of its own', async () => {
    played.upstream.reply({ content: 'I look.', toolCalls: cities, times: 2 })
    const { data } = await ask({ tools: [weather] })
    const streamed = await askStreamed({ tools: [weather] })
    for (const { choices } of [data, streamed]) {
      expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I look.' } })
      const calls = choices[0]!.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[]
      expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
        { city: 'Rome' },
        { city: 'Oslo' },
      ])
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    }
  })

  it('keep the ids that the model gave, and get ids that stay the same where it gave none', async () => {
    const body = {
      responseId: 'r1',
      candidates: [
        {
          content: {
            parts: [
              { functionCall: { id: 'native-1', name: 'weather', args: {} } },
              { functionCall: { name: 'weather' } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
    }
    played.upstream.reply({ body, times: 2 })
    const ids = async () =>
      (await ask({ tools: [weather] })).data.choices[0]!.message.tool_calls!.map(({ id }) => id)
    const first = await ids()
    expect(first).toEqual(['native-1', expect.stringMatching(/^call_[0-9a-f]{24}$/)])
    expect(await ids()).toEqual(first)
  })

  it('get their results in the order of the calls, under the names of the functions', async () => {
    const calls = cities.map(({ name, arguments: args }, i) => ({
      id: `call_${i}`,
      type: 'function' as const,
      function: { name, arguments: JSON.stringify(args) },
    }))
    const { sent } = await ask({
      tools: [weather],
      messages: [
        ...messages,
        { role: 'assistant', content: null, tool_calls: calls },
        { role: 'tool', tool_call_id: 'call_1', content: 'snow' },
        { role: 'tool', tool_call_id: 'call_0', content: '{"sun":true}' },
      ],
    })
    expect(sent).toMatchObject({
      contents: [
        { role: 'user' },
        {
          role: 'model',
          parts: [
            { functionCall: { id: 'call_0', name: 'weather', args: { city: 'Rome' } } },
            { functionCall: { id: 'call_1', name: 'weather', args: { city: 'Oslo' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'call_0', name: 'weather', response: { sun: true } } },
            { functionResponse: { id: 'call_1', name: 'weather', response: { output: 'snow' } } },
          ],
        },
      ],
    })
  })

  /** Three turns: two that call tools, and the answer. The upstream refuses a signature that is not as it gave it. */
  async function loop(
    stream: boolean,
    keeps: (message: OpenAI.ChatCompletionMessage) => Body['messages'][number],
  ) {
    played.upstream.reset()
    played.upstream.reply({ toolCalls: cities })
    played.upstream.reply({ toolCalls: [{ id: 'native', name: 'weather', arguments: { city: 'Bern' } }] })
    played.upstream.reply({ content: 'Done.' })
    const said = [...messages]
    for (let turn = 0; turn < 3; turn += 1) {
      const fields = { model: 'gemini-3-pro-preview', tools: [weather], messages: said }
      const { message } = (stream ? await askStreamed(fields) : (await ask(fields)).data).choices[0]!
      said.push(keeps(message))
      for (const { id } of message.tool_calls ?? []) {
        said.push({ role: 'tool', tool_call_id: id, content: 'fine' })
      }
    }
    expect(said.at(-1)).toMatchObject({ content: 'Done.' })
    const sent = played.upstream.last().body as { contents: { parts: { thoughtSignature?: string }[] }[] }
    return sent.contents.flatMap(({ parts }) =>
      parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []),
    )
  }

  it('get their signatures back byte for byte, also from a client that drops fields it does not know', async () => {
    const whole = (message: OpenAI.ChatCompletionMessage) => message
    const bare = ({ content, tool_calls = [] }: OpenAI.ChatCompletionMessage) => ({
      role: 'assistant' as const,
      content,
      ...(tool_calls.length > 0 && {
        tool_calls: (tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[]).map(
          ({ id, type, function: { name, arguments: args } }) => ({
            id,
            type,
            function: { name, arguments: args },
          }),
        ),
      }),
    })
    const signatures = await loop(false, whole)
    expect(signatures).toHaveLength(2)
    for (const stream of [false, true])
      for (const keeps of [whole, bare]) expect(await loop(stream, keeps)).toEqual(signatures)
  })

  it('that another model called are let through by a model that wants signatures', async () => {
    const call = {
      id: 'call_x',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Rome"}' },
    }
    const { response } = await ask({
      model: 'gemini-3-pro-preview',
      tools: [weather],
      messages: [
        ...messages,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_x', content: 'sun' },
      ],
    })
    expect(response.headers.get('x-params-changed')).toContain('thought_signature')
  })

  it('without end are told of in part, in a header that clients take', async () => {
    const named = (count: number, length: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`${n}`.padEnd(length, 'x'), 1]))
    const asked = async (fields: Record<string, number>) => {
      const { response } = await ask({ tools: [{ ...weather, ...fields }] })
      return { response, header: response.headers.get('x-params-changed')! }
    }
    for (const fields of [named(20_000, 6), named(60, 50), named(40, 3000)]) {
      const { header } = await asked(fields)
      expect(header).toMatch(/^-tools\.0x+, -tools\.1x+, .*, more$/)
      expect(header.length).toBeLessThan(2010)
    }
    expect((await asked(named(1, 3000))).header).toBe(`-tools.0${'x'.repeat(92)}`)
    const { response } = await asked(named(500, 6))
    expect((await traceOf(played.gateway, response)).params_dropped).toHaveLength(100)
  })
})

describe('ends', () => {
  it.each(['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY', 'OTHER'])(
    '%s is a content filter, and is told as it was',
    async (native) => {
      played.upstream.reply({ finishReason: native, times: 2 })
      const expected = { finish_reason: 'content_filter', native_finish_reason: native }
      expect((await ask()).data.choices[0]).toMatchObject(expected)
      expect((await askStreamed()).choices[0]).toMatchObject(expected)
    },
  )

  it('at the limit is told as such', async () => {
    played.upstream.reply({ finishReason: 'MAX_TOKENS' })
    expect((await ask()).data.choices[0]).toMatchObject({ finish_reason: 'length' })
  })

  it('of a prompt that is refused are a content filter', async () => {
    const body = {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
      usageMetadata: { promptTokenCount: 3 },
    }
    played.upstream.reply({ body })
    played.upstream.reply({ chunks: [`data: ${JSON.stringify(body)}\r\n\r\n`] })
    const expected = { finish_reason: 'content_filter', native_finish_reason: 'PROHIBITED_CONTENT' }
    expect((await ask()).data.choices[0]).toMatchObject(expected)
    expect((await askStreamed()).choices[0]).toMatchObject(expected)
  })
})

describe('embeddings', () => {
  it('come one and many, as numbers and as the client likes them best', async () => {
    const create = (fields: object) =>
      played.client.embeddings.create({ model: 'gemini-embedding-001', input: 'a', dimensions: 4, ...fields })
    const one = await create({})
    expect(played.upstream.last()).toMatchObject({
      path: '/v1beta/models/gemini-embedding-001:embedContent',
      body: { content: { parts: [{ text: 'a' }] }, outputDimensionality: 4 },
    })
    const many = await create({ input: ['b', 'a'], encoding_format: 'float' })
    expect(played.upstream.last().path).toMatch(/:batchEmbedContents$/)
    expect(many.data[1]!.embedding).toHaveLength(4)
    expect(one.data[0]!.embedding).toEqual(many.data[1]!.embedding)
  })

  it('of more texts than a batch may have are asked for in two', async () => {
    const input = Array.from({ length: 101 }, (_, i) => `text ${i}`)
    const { data } = await played.client.embeddings.create({
      model: 'gemini-embedding-001',
      input,
      dimensions: 4,
    })
    expect([data.length, played.upstream.requests.length]).toEqual([101, 2])
  })

  it('of tokens are refused by name', async () => {
    const asked = played.client.embeddings.create({ model: 'gemini-embedding-001', input: [1, 2] })
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'input' })
  })
})

it('is really asked when it is checked, and lists its models', async () => {
  const { status } = await played.gateway.api('POST', '/api/proxy/providers/gemini/check')
  expect(status).toBe(200)
  expect(played.upstream.last()).toMatchObject({ method: 'GET', path: '/v1beta/models' })
  expect(played.gateway.kernel.service(ProviderDirectory)!.namesOf('gemini')).toContain(
    'gemini-3-pro-preview',
  )
})
