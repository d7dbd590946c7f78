import OpenAI from 'openai'
import { zodResponseFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI

const model = 'gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'Say hello' }]
const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'The weather in a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
}

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  const { key } = await gateway.signUp('client')
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
  for (const name of ['retrypilot', 'fallbackrouter'])
    await gateway.module(name, { enabled: false }).catch(() => {})
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

describe('chat', () => {
  test('plain: the answer is the provider’s, byte for byte', async () => {
    const body = {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      new_field: { a: [1.5, '\u00e9'] },
    }
    upstream.reply({ body: `${JSON.stringify(body, null, 2)}\n` })
    const response = await client.chat.completions.create({ model, messages }).asResponse()
    expect(await response.text()).toBe(`${JSON.stringify(body, null, 2)}\n`)
    expect(response.headers.get('x-trace-id')).toMatch(/^tr_/)
  })

  test('sends what was asked: parameters it does not know included', async () => {
    const asked: OpenAI.ChatCompletionCreateParamsNonStreaming = {
      model,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          ],
        },
      ],
      temperature: 0.3,
      seed: 7,
      logit_bias: { 50: -1 },
      metadata: { a: 'b' },
    }
    await client.chat.completions.create(asked)
    expect(upstream.last().body).toEqual(asked)
  })

  test('streamed: every chunk once and in order, usage hidden from who did not ask', async () => {
    upstream.reply({ content: ['Hel', 'lo ', 'wörld ', '🎉'] })
    const deltas: string[] = []
    let usage: unknown
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
      const content = chunk.choices[0]?.delta.content
      if (content) deltas.push(content)
      usage ??= chunk.usage
      expect(chunk.choices).toHaveLength(1)
    }
    expect(deltas).toEqual(['Hel', 'lo ', 'wörld ', '🎉'])
    expect(usage ?? undefined).toBeUndefined()
    expect(upstream.last().body).toMatchObject({ stream_options: { include_usage: true } })
  })

  test('streamed with usage for who asked', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage: true },
    })
    let last: OpenAI.ChatCompletionChunk | undefined
    for await (const chunk of stream) last = chunk
    expect(last?.choices).toEqual([])
    expect(last?.usage?.total_tokens).toBeGreaterThan(0)
  })

  test('tools, parallel, plain and streamed, and the turn that follows', async () => {
    const toolCalls = [
      { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } },
      { id: 'call_2', name: 'weather', arguments: { city: 'Rome' } },
    ]
    upstream.reply({ toolCalls })
    const plain = await client.chat.completions.create({ model, messages, tools: [weather] })
    const calls = plain.choices[0]!.message.tool_calls!
    expect(calls.map((call) => call.id)).toEqual(['call_1', 'call_2'])
    expect(plain.choices[0]!.finish_reason).toBe('tool_calls')

    upstream.reply({ toolCalls, splitBytes: 7 })
    const streamed = await client.chat.completions
      .stream({ model, messages, tools: [weather] })
      .finalChatCompletion()
    expect(streamed.choices[0]!.message.tool_calls).toMatchObject([
      { id: 'call_1', function: { name: 'weather', arguments: JSON.stringify({ city: 'Oslo' }) } },
      { id: 'call_2', function: { name: 'weather', arguments: JSON.stringify({ city: 'Rome' }) } },
    ])

    const next = await client.chat.completions.create({
      model,
      messages: [
        ...messages,
        plain.choices[0]!.message,
        ...calls.map((call) => ({ role: 'tool' as const, tool_call_id: call.id, content: 'sunny' })),
      ],
      tools: [weather],
    })
    expect(next.choices[0]!.message.content).toBeTruthy()
  })

  test('structured output, parsed by the client', async () => {
    const Person = z.object({ name: z.string(), age: z.number() })
    upstream.reply({ content: '{"name":"Ada","age":36}' })
    const answer = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(Person, 'person'),
    })
    expect(answer.choices[0]!.message.parsed).toEqual({ name: 'Ada', age: 36 })
    expect(upstream.last().body).toMatchObject({ response_format: { type: 'json_schema' } })
  })

  test('several choices, a refusal, reasoning and log probabilities come through', async () => {
    const several = await client.chat.completions.create({ model, messages, n: 3, logprobs: true })
    expect(several.choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(several.choices[0]!.logprobs?.content?.length).toBeGreaterThan(0)
    upstream.reply({ refusal: 'I would rather not.' })
    const refusal = await client.chat.completions.create({ model, messages })
    expect(refusal.choices[0]!.message.refusal).toBe('I would rather not.')
    upstream.reply({ reasoning: 'Thinking…', content: 'Done' })
    const stream = await client.chat.completions.create({ model, messages, stream: true })
    let reasoning = ''
    for await (const chunk of stream)
      reasoning += (chunk.choices[0]?.delta as { reasoning_content?: string })?.reasoning_content ?? ''
    expect(reasoning).toBe('Thinking…')
  })
})

test('legacy completions, plain and streamed', async () => {
  const plain = await client.completions.create({ model: 'davinci-002', prompt: 'Once' })
  expect(plain.choices[0]!.text).toBeTruthy()
  let text = ''
  for await (const part of await client.completions.create({
    model: 'davinci-002',
    prompt: 'Once',
    stream: true,
  })) {
    text += part.choices[0]?.text ?? ''
  }
  expect(text).toBe(plain.choices[0]!.text)
})

test('embeddings: one text, many, tokens, and both encodings', async () => {
  const one = await client.embeddings.create({
    model: 'text-embedding-3-small',
    input: 'a',
    encoding_format: 'float',
  })
  const base64 = await client.embeddings.create({ model: 'text-embedding-3-small', input: 'a' })
  expect(base64.data[0]!.embedding).toHaveLength(one.data[0]!.embedding.length)
  const many = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['a', 'b', 'c'] })
  expect(many.data.map(({ index }) => index)).toEqual([0, 1, 2])
  const tokens = await client.embeddings.create({ model: 'text-embedding-3-small', input: [[1, 2], [3]] })
  expect(tokens.data).toHaveLength(2)
})

describe('failures reach the client as its own classes', () => {
  test.each([
    [400, OpenAI.BadRequestError],
    [404, OpenAI.NotFoundError],
    [422, OpenAI.UnprocessableEntityError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
    [529, OpenAI.InternalServerError],
  ])('a provider’s %i', async (status, type) => {
    for (const stream of [false, true]) {
      upstream.reply({ status, error: { message: 'because' } })
      const error = await client.chat.completions.create({ model, messages, stream }).catch((e: unknown) => e)
      expect(error).toBeInstanceOf(type)
      expect(error).toMatchObject({ message: expect.stringContaining('because') })
    }
  })

  test.each([401, 403])(
    'a provider’s %i is the gateway’s trouble with its key, and names no key',
    async (status) => {
      upstream.reply({ status, error: { message: 'Incorrect API key provided: sk-te***st' } })
      const error = await client.chat.completions.create({ model, messages }).catch((e: unknown) => e)
      expect(error).toBeInstanceOf(OpenAI.InternalServerError)
      expect(error).toMatchObject({ status: 502, code: 'provider_error' })
      expect(String(error)).not.toContain('sk-te')
    },
  )

  test('a wait that the provider asks for is passed on', async () => {
    upstream.reply({ status: 429, retryAfter: 7 })
    const error = await client.chat.completions.create({ model, messages }).catch((e: unknown) => e)
    expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('retry-after')).toBe('7')
  })

  test.each([
    ['a reset connection', { drop: true }],
    ['garbage', { garbage: 'not json at all' }],
    ['a stream cut before its first content', { cutAfter: 0 }],
  ])('%s is a provider error', async (_, script) => {
    for (const stream of [false, true]) {
      upstream.reply(script)
      const error = await client.chat.completions.create({ model, messages, stream }).catch((e: unknown) => e)
      expect(error).toMatchObject({ status: 502, code: 'provider_error' })
    }
  })

  test('a stream that breaks in the middle is an error for the client, never a normal end', async () => {
    for (const script of [
      { content: ['a', 'b', 'c'], cutAfter: 3 },
      { chunks: ['data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'] },
    ]) {
      upstream.reply(script)
      const stream = await client.chat.completions.create({ model, messages, stream: true })
      const read = async (): Promise<string> => {
        let text = ''
        for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ''
        return text
      }
      await expect(read()).rejects.toThrow(OpenAI.APIError)
    }
  })

  test('a wrong key, an unknown model and an unknown provider', async () => {
    const stranger = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: 'sy_live_nobody', maxRetries: 0 })
    await expect(stranger.chat.completions.create({ model, messages })).rejects.toThrow(
      OpenAI.AuthenticationError,
    )
    await expect(client.chat.completions.create({ model: 'no-such-model', messages })).rejects.toThrow(
      OpenAI.NotFoundError,
    )
    await expect(
      client.chat.completions.create({ model, messages }, { headers: { 'x-provider': 'nobody' } }),
    ).rejects.toThrow(OpenAI.BadRequestError)
  })
})

test('a client that leaves closes the connection to the provider', async () => {
  upstream.reply({ content: Array.from({ length: 200 }, (_, n) => `w${n} `), gapMs: 20 })
  const stream = await client.chat.completions.create({ model, messages, stream: true })
  for await (const _ of stream) break
  const request = upstream.last()
  await request.closed
  expect(request.aborted).toBe(true)
  expect(request.chunksSent).toBeLessThan(150)

  upstream.reply({ hang: true })
  const abort = new AbortController()
  const hanging = client.chat.completions
    .create({ model, messages }, { signal: abort.signal })
    .catch((e: unknown) => e)
  const received = await upstream.received(2)
  abort.abort()
  expect(await hanging).toBeInstanceOf(OpenAI.APIUserAbortError)
  await received.closed
  expect(received.aborted).toBe(true)
})
