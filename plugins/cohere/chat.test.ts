import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import type { CompletionChunk } from '#kernel'
import { Assembler } from '#kit'
import { ProviderDirectory } from '#provider'
import { sharedProvider } from '../../test/played.ts'
import { traceOf } from '../../test/trace.ts'
import { cohere } from '../../test/upstream/index.ts'

const played = sharedProvider('cohere', cohere)

type Body = OpenAI.ChatCompletionCreateParamsNonStreaming
const model = 'command-a-03-2025'
const messages: Body['messages'] = [{ role: 'user', content: 'hi' }]
const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}
const cities = [
  { name: 'weather', arguments: { city: 'Rome' } },
  { name: 'weather', arguments: { city: 'Oslo' } },
]

async function ask(fields: Record<string, unknown> = {}) {
  const { data, response } = await played.client.chat.completions
    .create({ model, messages, ...fields } as Body)
    .withResponse()
  return { data, response, sent: played.upstream.last().body }
}

/** The chunks that the client got, put together. */
async function askStreamed(fields: Record<string, unknown> = {}) {
  const stream = await played.client.chat.completions.create({
    model,
    messages,
    stream_options: { include_usage: true },
    ...fields,
    stream: true,
  })
  const assembler = new Assembler()
  for await (const chunk of stream as AsyncIterable<unknown>) assembler.add(chunk as CompletionChunk)
  return JSON.parse(JSON.stringify(assembler.completion())) as OpenAI.ChatCompletion
}

function failureOf(stream: boolean) {
  return played.client.chat.completions.create({ model, messages, stream }).catch((thrown: unknown) => thrown)
}

it('answers plain and streamed alike', async () => {
  const expected = { message: { role: 'assistant', content: 'You said: hi' }, finish_reason: 'stop' }
  const { data } = await ask()
  expect(data).toMatchObject({ object: 'chat.completion', model, choices: [expected] })
  expect((await askStreamed()).choices[0]).toMatchObject(expected)
  expect(played.upstream.requests.map(({ path, key }) => [path, key])).toEqual([
    ['/v2/chat', 'key-of-cohere'],
    ['/v2/chat', 'key-of-cohere'],
  ])
})

it('tells what was read and written, and what is paid for', async () => {
  const usage = {
    billed_units: { input_tokens: 10, output_tokens: 5 },
    tokens: { input_tokens: 70, output_tokens: 8 },
    cached_tokens: 4,
  }
  played.upstream.reply({ usage, times: 2 })
  const { data, response } = await ask()
  const expected = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4 },
    billed_units: usage.billed_units,
    tokens: usage.tokens,
  }
  expect(data.usage).toEqual(expected)
  expect((await askStreamed()).usage).toEqual(expected)
  const trace = await traceOf(played.gateway, response)
  expect(trace.usage).toMatchObject({ input: 10, output: 5, cached_read: 4 })
})

it('takes images, and answers by a schema', async () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
  const { sent } = await ask({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, image] }],
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
  })
  expect(sent).toMatchObject({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Look' }, image] }],
    response_format: { type: 'json_object', json_schema: schema },
  })
})

describe('tools', () => {
  it('are called in parallel, plain and streamed, after a plan', async () => {
    played.upstream.reply({ content: 'I will look.', toolCalls: cities, times: 2 })
    const { data } = await ask({ tools: [weather] })
    const streamed = await askStreamed({ tools: [weather] })
    for (const { choices } of [data, streamed]) {
      expect(choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: { content: null, reasoning_content: 'I will look.' },
      })
      const calls = choices[0]!.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[]
      expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
        { city: 'Rome' },
        { city: 'Oslo' },
      ])
      expect(calls.map(({ id }) => id)).toEqual(['weather_0tk2rz', 'weather_1tk2rz'])
    }
  })

  it.each([false, true])('go on with their results and the plan, with stream: %s', async (stream) => {
    played.upstream.reply({ content: 'I will look.', toolCalls: cities })
    played.upstream.reply({ content: 'Sunny.' })
    const said = [...messages]
    for (let turn = 0; turn < 2; turn += 1) {
      const fields = { tools: [weather], messages: said }
      const { message } = (stream ? await askStreamed(fields) : (await ask(fields)).data).choices[0]!
      said.push(message)
      for (const { id } of message.tool_calls ?? []) {
        said.push({ role: 'tool', tool_call_id: id, content: 'sun' })
      }
    }
    expect(said.at(-1)).toMatchObject({ content: 'Sunny.' })
    expect(played.upstream.last().body).toMatchObject({
      messages: [
        {},
        { role: 'assistant', tool_plan: 'I will look.', tool_calls: [{}, {}] },
        { role: 'tool', tool_call_id: 'weather_0tk2rz', content: 'sun' },
        { role: 'tool', tool_call_id: 'weather_1tk2rz', content: 'sun' },
      ],
    })
  })
})

describe.each([false, true])('with stream: %s', (stream) => {
  it.each([
    [400, OpenAI.BadRequestError, 400, 'bad_request'],
    [401, OpenAI.InternalServerError, 502, 'provider_error'],
    [404, OpenAI.NotFoundError, 404, 'not_found'],
    [422, OpenAI.UnprocessableEntityError, 422, 'bad_request'],
    [429, OpenAI.RateLimitError, 429, 'rate_limited'],
    [498, OpenAI.BadRequestError, 400, 'bad_request'],
    [500, OpenAI.InternalServerError, 502, 'provider_error'],
  ])('status %i is an error of its kind', async (given, type, status, code) => {
    played.upstream.reply({ status: given })
    const error = await failureOf(stream)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ status, code })
  })

  it.each([
    ['ERROR', 502, 'upstream_error'],
    ['TIMEOUT', 504, 'timeout'],
  ])('an answer that ends with %s is an error and no end', async (finishReason, status, type) => {
    played.upstream.reply({ finishReason, content: [] })
    expect(await failureOf(stream)).toMatchObject({ status, code: 'provider_error', type })
  })

  it.each([
    ['no JSON', 'nonsense'],
    ['no object', '42'],
    ['no answer', '{}'],
  ])('an answer that makes no sense is a 502: %s', async (_, body) => {
    if (stream) played.upstream.reply({ chunks: [`data: ${body}\n\n`] })
    else played.upstream.reply({ body })
    expect(await failureOf(stream)).toMatchObject({ status: 502, code: 'provider_error' })
  })
})

it.each([
  ['MAX_TOKENS', 'length'],
  ['STOP_SEQUENCE', 'stop'],
  ['ERROR_TOXIC', 'content_filter'],
])('%s is told as %s', async (finishReason, finish_reason) => {
  played.upstream.reply({ finishReason, times: 2 })
  const expected = { finish_reason, native_finish_reason: finishReason }
  expect((await ask()).data.choices[0]).toMatchObject(expected)
  expect((await askStreamed()).choices[0]).toMatchObject(expected)
})

describe('a stream that has begun', () => {
  const content = ['one ', 'two ', 'three ', 'four']

  async function read() {
    const stream = await played.client.chat.completions.create({ model, messages, stream: true })
    const read = { text: '', finish: [] as string[], error: undefined as unknown }
    try {
      for await (const { choices } of stream) {
        read.text += choices[0]?.delta.content ?? ''
        if (choices[0]?.finish_reason) read.finish.push(choices[0].finish_reason)
      }
    } catch (error) {
      read.error = error
    }
    return read
  }

  it.each([3, 5, 7])('and is cut after %i events never ends as if it were whole', async (cutAfter) => {
    played.upstream.reply({ content, cutAfter, gapMs: 20 })
    const { finish, error } = await read()
    expect(finish).toEqual([])
    expect(error).toBeInstanceOf(OpenAI.APIError)
  })

  it('and just stops never ends as if it were whole', async () => {
    const event = { type: 'content-delta', index: 0, delta: { message: { content: { text: 'one' } } } }
    played.upstream.reply({ chunks: [`event: content-delta\ndata: ${JSON.stringify(event)}\n\n`] })
    const { text, finish, error } = await read()
    expect({ text, finish }).toEqual({ text: 'one', finish: [] })
    expect(error).toMatchObject({ code: 'provider_error' })
  })

  it('and fails ends with an error', async () => {
    played.upstream.reply({ content, finishReason: 'ERROR', gapMs: 20 })
    const { text, finish, error } = await read()
    expect({ text, finish }).toEqual({ text: content.join(''), finish: [] })
    expect(error).toMatchObject({ code: 'provider_error' })
  })

  it('is broken off at the provider when the client leaves', async () => {
    played.upstream.reply({ content, gapMs: 200 })
    const stream = await played.client.chat.completions.create({ model, messages, stream: true })
    for await (const _ of stream) break
    await played.upstream.last().closed
    expect(played.upstream.last().aborted).toBe(true)
  })
})

describe('embeddings', () => {
  it('come one and many, and are told what they are for', async () => {
    const create = (fields: object) =>
      played.client.embeddings.create({ model: 'embed-v4.0', input: 'a', dimensions: 256, ...fields })
    const one = await create({})
    expect(played.upstream.last()).toMatchObject({
      path: '/v2/embed',
      body: { texts: ['a'], input_type: 'search_document', output_dimension: 256 },
    })
    const many = await create({ input: ['b', 'a'], encoding_format: 'float', input_type: 'search_query' })
    expect(played.upstream.last().body).toMatchObject({ input_type: 'search_query' })
    expect(one.data[0]!.embedding).toEqual(many.data[1]!.embedding)
    expect(one.usage).toMatchObject({ prompt_tokens: 1, total_tokens: 1 })
  })

  it('of more texts than it takes at a time are asked for in several requests', async () => {
    const input = Array.from({ length: 200 }, (_, i) => `text ${i}`)
    const { data, usage } = await played.client.embeddings.create({
      model: 'embed-v4.0',
      input,
      dimensions: 256,
    })
    const sizes = played.upstream.requests.map(({ body }) => (body as { texts: string[] }).texts.length)
    expect(sizes.toSorted()).toEqual([8, 96, 96])
    expect(data.map(({ index }) => index)).toEqual(input.map((_, i) => i))
    const alone = await played.client.embeddings.create({
      model: 'embed-v4.0',
      input: input[150]!,
      dimensions: 256,
    })
    expect(data[150]!.embedding).toEqual(alone.data[0]!.embedding)
    expect(usage).toMatchObject({ prompt_tokens: 400, billed_units: { input_tokens: 400 } })
  })

  it('of tokens are refused by name', async () => {
    const asked = played.client.embeddings.create({ model: 'embed-v4.0', input: [1, 2] })
    await expect(asked).rejects.toMatchObject({ status: 400, param: 'input' })
  })
})

it('is really asked when it is checked, and lists its models', async () => {
  const { status } = await played.gateway.api('POST', '/api/proxy/providers/cohere/check')
  expect(status).toBe(200)
  expect(played.upstream.last()).toMatchObject({ method: 'GET', path: '/v1/models' })
  expect(played.gateway.kernel.service(ProviderDirectory)!.namesOf('cohere')).toContain('command-a-03-2025')
})
