import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

const cap = (config: Record<string, unknown>) =>
  gateway.module('outputcap', { enabled: true, config: { default_max_tokens: null, rules: null, ...config } })
const question = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Go on' }] }
const endless = Array.from({ length: 2000 }, () => 'lorem ipsum ')

/** What each choice of a stream said, and every finish reason it gave. */
async function read(body: Partial<OpenAI.ChatCompletionCreateParamsStreaming> = {}) {
  const choices = new Map<number, { text: string; reasons: string[] }>()
  for await (const chunk of await client.chat.completions.create({ ...question, ...body, stream: true })) {
    for (const { index, delta, finish_reason } of chunk.choices) {
      const choice = choices.get(index) ?? { text: '', reasons: [] }
      choices.set(index, choice)
      choice.text += (delta.content ?? '') + (delta.tool_calls?.[0]?.function?.arguments ?? '')
      if (finish_reason) choice.reasons.push(finish_reason)
    }
  }
  return [...choices].toSorted(([a], [b]) => a - b).map(([, choice]) => choice)
}

test('the provider sees the cap: set, lowered, and left alone when the client wants less', async () => {
  await cap({ default_max_tokens: 50 })
  await client.chat.completions.create(question)
  expect(upstream.last().body).toMatchObject({ max_tokens: 50 })
  await client.chat.completions.create({ ...question, max_tokens: 4000 })
  expect(upstream.last().body).toMatchObject({ max_tokens: 50 })
  await client.chat.completions.create({ ...question, max_tokens: 5 })
  expect(upstream.last().body).toMatchObject({ max_tokens: 5 })
})

test('the limit keeps the name the client gave it', async () => {
  await cap({ default_max_tokens: 50 })
  await client.chat.completions.create({ ...question, max_completion_tokens: 4000 })
  expect(upstream.last().body).toMatchObject({ max_completion_tokens: 50 })
  expect(upstream.last().body).not.toHaveProperty('max_tokens')
})

test('the first rule that matches counts, and the default where none does', async () => {
  await cap({
    default_max_tokens: 10,
    rules: [
      { models: ['gpt-4o*'], projects: ['essays'], max_tokens: 300 },
      { models: ['gpt-4o-mini'], max_tokens: 200 },
      { plans: ['team'], max_tokens: 100 },
    ],
  })
  const sent = async (model: string, project?: string) => {
    await client.chat.completions.create(
      { ...question, model },
      project ? { headers: { 'X-Project': project } } : {},
    )
    return (upstream.last().body as { max_tokens: number }).max_tokens
  }
  expect(await sent('gpt-4o-mini', 'essays')).toBe(300)
  expect(await sent('gpt-4o-mini')).toBe(200)
  expect(await sent('gpt-4o')).toBe(100)
  await cap({ default_max_tokens: 10, rules: [{ plans: ['free'], max_tokens: 100 }] })
  expect(await sent('gpt-4o')).toBe(10)
})

test('a provider that ignores the cap is cut on the stream, and its connection closed', async () => {
  await cap({ default_max_tokens: 20 })
  upstream.reply({ content: endless, gapMs: 1 })
  const [choice] = await read()
  expect(choice!.reasons).toEqual(['length'])
  expect(choice!.text.length).toBeGreaterThan(20 * 4)
  expect(choice!.text.length).toBeLessThan(300)
  expect(endless.join('')).toContain(choice!.text)
  await upstream.last().closed
  expect(upstream.last().aborted).toBe(true)
  expect(upstream.last().chunksSent).toBeLessThan(endless.length)
})

test('what comes at once is cut in its middle', async () => {
  await cap({ default_max_tokens: 20 })
  upstream.reply({ content: endless.slice(0, 100), times: 1 })
  const [choice] = await read()
  expect(choice!.text).toBe(endless.join('').slice(0, (20 + 16) * 6))
  expect(choice!.reasons).toEqual(['length'])
})

test('arguments of tool calls count too', async () => {
  await cap({ default_max_tokens: 20 })
  upstream.reply({ toolCalls: [{ name: 'write', arguments: { text: endless.join('') } }], gapMs: 1 })
  const [choice] = await read({ tools: [{ type: 'function', function: { name: 'write' } }] })
  expect(choice!.reasons).toEqual(['length'])
  expect(choice!.text.length).toBeLessThan(300)
})

test('an answer within the cap keeps its end, even if its tokens are long ones', async () => {
  await cap({ default_max_tokens: 20 })
  const words = Array.from({ length: 10 }, () => 'internationalization ')
  upstream.reply({ content: words, finishReason: 'stop' })
  const [choice] = await read()
  expect(choice).toEqual({ text: words.join(''), reasons: ['stop'] })
})

test('of several choices each is cut for itself, and each ends once', async () => {
  await cap({ default_max_tokens: 20 })
  const event = (index: number, delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index, delta, finish_reason }] })}\n\n`
  const long = event(0, { content: 'lorem ipsum '.repeat(10) })
  const short = event(1, { content: 'dolor ' })
  upstream.reply({
    chunks: [
      long,
      short,
      long,
      short,
      long,
      short,
      long,
      short,
      event(1, {}, 'stop'),
      event(0, {}, 'stop'),
      'data: [DONE]\n\n',
    ],
  })
  const [first, second] = await read({ n: 2 })
  expect(first!.reasons).toEqual(['length'])
  expect(first!.text.length).toBeLessThan(400)
  expect(second).toEqual({ text: 'dolor '.repeat(4), reasons: ['stop'] })

  upstream.reply({ content: endless, gapMs: 1 })
  const both = await read({ n: 2 })
  expect(both.map(({ reasons }) => reasons)).toEqual([['length'], ['length']])
  await upstream.last().closed
  expect(upstream.last().aborted).toBe(true)
})

test('legacy completions are capped like chats', async () => {
  await cap({ default_max_tokens: 20 })
  upstream.reply({ content: endless, gapMs: 1 })
  let text = ''
  let reason: string | null = null
  const stream = await client.completions.create({
    model: 'gpt-3.5-turbo-instruct',
    prompt: 'Go on',
    stream: true,
  })
  for await (const { choices } of stream) {
    text += choices[0]?.text ?? ''
    reason = choices[0]?.finish_reason ?? reason
  }
  expect(upstream.last().body).toMatchObject({ max_tokens: 20 })
  expect(text.length).toBeLessThan(300)
  expect(reason).toBe('length')
})

test('each of several prompts is cut for itself, and the stream goes on until all have ended', async () => {
  await cap({ default_max_tokens: 20 })
  const event = (index: number, text: string, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'text_completion', created: 1, model: 'm', choices: [{ index, text, finish_reason, logprobs: null }] })}\n\n`
  const long = event(0, 'lorem ipsum '.repeat(30))
  upstream.reply({ chunks: [long, event(1, 'dolor '), event(1, 'sit', 'stop'), 'data: [DONE]\n\n'] })
  const texts = ['', '']
  const reasons: unknown[] = []
  const asked = { model: 'gpt-3.5-turbo-instruct', prompt: ['Go on', 'And so on'], stream: true as const }
  for await (const { choices } of await client.completions.create(asked)) {
    for (const { index, text, finish_reason } of choices) {
      texts[index] += text
      if (finish_reason) reasons.push([index, finish_reason])
    }
  }
  expect(texts[1]).toBe('dolor sit')
  expect(reasons).toEqual([
    [0, 'length'],
    [1, 'stop'],
  ])
})

test('embeddings are left as they are', async () => {
  await cap({ default_max_tokens: 20 })
  await client.embeddings.create({
    model: 'text-embedding-3-small',
    input: 'Hello',
    encoding_format: 'float',
  })
  expect(upstream.last().body).not.toHaveProperty('max_tokens')
})
