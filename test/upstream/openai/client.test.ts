import OpenAI, { APIError } from 'openai'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startUpstream, type Upstream } from '../index.ts'

let upstream: Upstream
let client: OpenAI

beforeEach(async () => {
  upstream = await startUpstream()
  client = new OpenAI({ baseURL: upstream.baseUrl(), apiKey: 'sk-test', maxRetries: 0 })
})

afterEach(() => upstream.close())

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

const user = { role: 'user', content: 'good morning' } as const

test('an unscripted chat answer echoes the last user text and counts its tokens', async () => {
  const reply = await client.chat.completions.create({ model: 'gpt-4o', messages: [user] })
  expect(reply.choices[0]?.message).toMatchObject({
    role: 'assistant',
    content: 'You said: good morning',
    refusal: null,
  })
  expect(reply.choices[0]?.finish_reason).toBe('stop')
  expect(reply.usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 })
  expect(reply._request_id).toMatch(/^req_/)
})

test('a streamed answer adds up to the plain one, and has one content delta for each counted token', async () => {
  const plain = await client.chat.completions.create({ model: 'gpt-4o', messages: [user] })
  const stream = client.chat.completions.stream({
    model: 'gpt-4o',
    messages: [user],
    stream_options: { include_usage: true },
  })
  const chunks = await collect(stream)
  const whole = await stream.finalChatCompletion()
  expect(whole.choices[0]?.message.content).toBe(plain.choices[0]?.message.content)
  expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '', refusal: null })
  expect(chunks.at(-1)?.choices).toEqual([])
  expect(chunks.at(-1)?.usage).toEqual(plain.usage)
  expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
  const deltas = chunks.filter((chunk) => chunk.choices[0]?.delta.content)
  expect(deltas).toHaveLength(plain.usage?.completion_tokens ?? -1)
})

test('a stream has no usage field unless it was asked for', async () => {
  const stream = await client.chat.completions.create({ model: 'gpt-4o', messages: [user], stream: true })
  const chunks = await collect(stream)
  expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
})

test('parallel tool calls come whole in a plain answer and in pieces in a stream', async () => {
  const toolCalls = [
    { id: 'call_paris', name: 'weather', arguments: { city: 'Paris' } },
    { id: 'call_rome', name: 'weather', arguments: { city: 'Rome' } },
  ]
  upstream.reply({ toolCalls, times: 2 })
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: { type: 'object' } } }]
  const plain = await client.chat.completions.create({ model: 'gpt-4o', messages: [user], tools })
  expect(plain.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: {
      content: null,
      tool_calls: [
        { id: 'call_paris', type: 'function', function: { name: 'weather', arguments: '{"city":"Paris"}' } },
        { id: 'call_rome', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } },
      ],
    },
  })
  const stream = client.chat.completions.stream({ model: 'gpt-4o', messages: [user], tools })
  const calls = (await collect(stream)).flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])
  expect(calls[0]).toEqual({
    index: 0,
    id: 'call_paris',
    type: 'function',
    function: { name: 'weather', arguments: '' },
  })
  expect(calls[1]).toEqual({ index: 0, function: { arguments: '{"city' } })
  const { tool_calls: whole } = (await stream.finalChatCompletion()).choices[0]!.message
  expect(whole).toMatchObject(plain.choices[0]!.message.tool_calls!)
})

test('a tool that the request insists on is called with arguments that fit its schema', async () => {
  const parameters = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } }
  const reply = await client.chat.completions.create({
    model: 'gpt-4o',
    messages: [user],
    tools: [{ type: 'function', function: { name: 'weather', parameters } }],
    tool_choice: 'required',
  })
  const call = reply.choices[0]?.message.tool_calls?.[0]
  expect(call).toMatchObject({ function: { name: 'weather', arguments: '{"city":"sample","days":1}' } })
})

test('choices of n are told apart and interleaved in a stream', async () => {
  const stream = client.chat.completions.stream({ model: 'gpt-4o', messages: [user], n: 2 })
  const order = (await collect(stream)).map((chunk) => chunk.choices[0]?.index)
  expect(order.slice(0, 4)).toEqual([0, 1, 0, 1])
  const texts = (await stream.finalChatCompletion()).choices.map((choice) => choice.message.content)
  expect(texts).toEqual(['You said: good morning', 'You said: good morning [1]'])
})

test('log probabilities, a refusal and reasoning are sent when asked for', async () => {
  const request = { model: 'gpt-4o', messages: [user], logprobs: true }
  const echoed = await client.chat.completions.create(request)
  expect(echoed.choices[0]?.logprobs?.content?.map(({ token }) => token).join('')).toBe(
    'You said: good morning',
  )
  upstream.reply({ refusal: 'I cannot help with that.' })
  const refused = await client.chat.completions.create(request)
  expect(refused.choices[0]?.message).toMatchObject({ content: null, refusal: 'I cannot help with that.' })
  upstream.reply({ reasoning: 'two and two', content: '4' })
  const reasoned = await client.chat.completions.create(request)
  expect(reasoned.choices[0]?.message).toMatchObject({ content: '4', reasoning_content: 'two and two' })
  expect(reasoned.usage?.completion_tokens_details?.reasoning_tokens).toBe(3)
})

test('a structured output fits its schema, and json_object wants the word json', async () => {
  const schema = {
    type: 'object',
    properties: { ok: { type: 'boolean' }, tags: { type: 'array', items: { enum: ['a'] } } },
  }
  const reply = await client.chat.completions.create({
    model: 'gpt-4o',
    messages: [user],
    response_format: { type: 'json_schema', json_schema: { name: 'verdict', schema } },
  })
  expect(JSON.parse(reply.choices[0]?.message.content ?? '')).toEqual({ ok: true, tags: ['a'] })
  const bare = client.chat.completions.create({
    model: 'gpt-4o',
    messages: [user],
    response_format: { type: 'json_object' },
  })
  await expect(bare).rejects.toThrow(/must contain the word 'json'/)
})

test('an answer is cut at max_completion_tokens', async () => {
  const request = { model: 'gpt-4o', messages: [user], max_completion_tokens: 2 }
  const reply = await client.chat.completions.create(request)
  expect(reply.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'You said:' } })
  expect(reply.usage?.completion_tokens).toBe(2)
})

test('completions answer each prompt, plain and streamed', async () => {
  const reply = await client.completions.create({ model: 'instruct', prompt: ['a', 'b'] })
  expect(reply.choices.map(({ text }) => text)).toEqual(['You said: a', 'You said: b'])
  const stream = await client.completions.create({ model: 'instruct', prompt: 'a', stream: true })
  const chunks = await collect(stream)
  expect(chunks.map((chunk) => chunk.choices[0]?.text).join('')).toBe('You said: a')
  expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop')
})

test('embeddings are unit vectors of the size asked for, the same in both encodings', async () => {
  const request = { model: 'text-embedding-3-small', input: ['one', 'two'], dimensions: 8 }
  const floats = await client.embeddings.create({ ...request, encoding_format: 'float' })
  const base64 = await client.embeddings.create(request)
  expect(upstream.last().body).toMatchObject({ encoding_format: 'base64' })
  const vectors = floats.data.map(({ embedding }) => embedding)
  expect(vectors.map((vector) => vector.length)).toEqual([8, 8])
  expect(Math.hypot(...vectors[0]!)).toBeCloseTo(1, 5)
  expect(vectors[0]).not.toEqual(vectors[1])
  for (const [index, { embedding }] of base64.data.entries()) {
    for (const [at, value] of embedding.entries()) expect(value).toBeCloseTo(vectors[index]![at]!, 6)
  }
  expect(floats.usage).toEqual({ prompt_tokens: 2, total_tokens: 2 })
})

test('models are listed, and found by name or not at all', async () => {
  const ids = (await client.models.list()).data.map(({ id }) => id)
  expect(ids).toContain('gpt-4o')
  expect(await client.models.retrieve('gpt-4o')).toMatchObject({ id: 'gpt-4o', object: 'model' })
  await expect(client.models.retrieve('nothing')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  })
})

test('a wrong key is refused with its middle masked', async () => {
  const stranger = client.withOptions({ apiKey: 'sk-somebody-else' })
  const error = await stranger.models.list().then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(error).toBeInstanceOf(APIError)
  expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' })
  expect(String(error)).not.toContain('somebody')
})
