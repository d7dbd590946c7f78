import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { beforeEach, describe, expect, test } from 'vitest'
import { bareChain } from '../../../../test/bare.ts'
import { startBoth } from '../../../../test/both.ts'
import { shared } from '../../../../test/shared.ts'
import { signatureOf } from '../../../../test/upstream/anthropic/index.ts'

const both = shared(startBoth)
beforeEach(async () => {
  both.upstream.reset()
  await bareChain(both.gateway)
})

type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming
type Response = OpenAI.Responses.Response

const email = 'ada.lovelace@example.com'
const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
const weather = { type: 'function' as const, name: 'weather', parameters: { type: 'object' }, strict: null }

/** A conversation that says something in every place where something can be said. */
const saying = (words: string): Omit<Body, 'model'> => ({
  instructions: `Know ${words}.`,
  tools: [weather],
  store: false,
  input: [
    { role: 'user', content: [{ type: 'input_text', text: `I am ${words}.` }] },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: `It is ${words}.` }] },
    { type: 'function_call', call_id: 't', name: 'weather', arguments: JSON.stringify({ of: words }) },
    { type: 'function_call_output', call_id: 't', output: [{ type: 'input_text', text: `For ${words}.` }] },
    { role: 'user', content: `Once more: ${words}` },
  ],
})

const create = (body: Body): Promise<Response> => both.client.responses.create(body)
const streamed = (body: Body): Promise<Response> =>
  both.client.responses.stream(body as Omit<Body, 'stream'>).finalResponse()

describe.each(['claude-haiku-4-5', 'gpt-4o-mini'])('guards of responses with %s', (model) => {
  test('the provider sees no personal data, and the client sees its own again', async () => {
    await both.gateway.module('maskmode', { enabled: true, config: {} })
    for (const ask of [create, streamed]) {
      both.upstream.reply({})
      expect((await ask({ model, ...saying(email) })).output_text).toContain(email)
      expect(both.upstream.last().rawBody).not.toContain(email)
      expect(both.upstream.last().rawBody).toContain('Once more: ')
    }
  })

  test('a stream keeps its items and their order while a guard looks on', async () => {
    const script = {
      reasoning: 'The user wants to know.',
      content: 'I will look it up now',
      toolCalls: [{ id: 't', name: 'weather', arguments: { of: 'Rome' } }],
    }
    const items = async (): Promise<unknown> => {
      both.upstream.reply({ ...script, splitBytes: 1 })
      const { output } = await streamed({
        model,
        input: 'hi',
        tools: [weather],
        reasoning: { effort: 'low' },
      })
      return output.map((item) => ({ ...item, id: undefined, encrypted_content: undefined }))
    }
    const bare = await items()
    for (const guard of ['maskmode', 'secretscan', 'toxicfilter']) {
      const config = guard === 'maskmode' ? { replies: true } : {}
      await both.gateway.module(guard, { enabled: true, config })
      expect([guard, await items()]).toEqual([guard, bare])
      await both.gateway.module(guard, { enabled: false })
    }
  })

  test('personal data in arguments comes back to the client, and is hidden again in the next turn', async () => {
    await both.gateway.module('maskmode', { enabled: true, config: {} })
    for (const ask of [create, streamed]) {
      both.upstream.reply({})
      const told = await ask({ model, input: `I am ${email}.` })
      const [placeholder] = /\[EMAIL_\w+\]/.exec(both.upstream.last().rawBody)!
      both.upstream.reply({
        toolCalls: [{ id: 't', name: 'weather', arguments: { of: placeholder } }],
        splitBytes: 1,
      })
      const called = await ask({
        model,
        tools: [weather],
        input: `Where is ${email}?`,
        previous_response_id: told.id,
      })
      expect(called.output).toMatchObject([
        { type: 'function_call', arguments: JSON.stringify({ of: email }) },
      ])
      await ask({
        model,
        tools: [weather],
        previous_response_id: called.id,
        input: [{ type: 'function_call_output', call_id: 't', output: `Here is ${email}` }],
      })
      expect(both.upstream.last().rawBody).not.toContain(email)
      expect(both.upstream.last().rawBody.split(placeholder).length).toBeGreaterThan(4)
      const kept = await both.client.responses.retrieve(called.id)
      expect(JSON.stringify(kept)).toContain(email)
    }
    expect(await onDisk(email)).toEqual([])
  })

  test('a secret in a request is refused before the provider sees it, wherever it stands', async () => {
    await both.gateway.module('secretscan', { enabled: true, config: {} })
    const input = saying(secret).input as OpenAI.Responses.ResponseInputItem[]
    const harmless = saying('nobody').input as OpenAI.Responses.ResponseInputItem[]
    const places = [
      { input: 'hi', instructions: secret },
      { input: secret },
      ...input.map((item, i) => ({ input: harmless.map((other, j) => (i === j ? item : other)) })),
      { input: 'hi', tools: [{ ...weather, description: secret }] },
    ]
    for (const fields of places)
      await expect(
        create({ model, tools: [weather], ...fields }),
        JSON.stringify(fields),
      ).rejects.toBeInstanceOf(OpenAI.BadRequestError)
    expect(both.upstream.requests).toHaveLength(0)
  })

  test('a secret in an answer is taken out, plain and streamed byte by byte, in calls too', async () => {
    await both.gateway.module('secretscan', { enabled: true, config: {} })
    const script = { content: `It is ${secret}`, toolCalls: [{ name: 'weather', arguments: { of: secret } }] }
    for (const ask of [create, streamed]) {
      both.upstream.reply({ ...script, splitBytes: 1 })
      const answer = await ask({ model, tools: [weather], input: 'hi' })
      expect(JSON.stringify(answer)).not.toContain(secret)
      expect(answer.output.find(({ type }) => type === 'function_call')).toMatchObject({
        arguments: JSON.stringify({ of: '[REDACTED:github_token]' }),
      })
      expect(JSON.stringify(await both.client.responses.retrieve(answer.id))).not.toContain(secret)
    }
    both.upstream.reply({ content: `It is ${secret}, keep it safe.`, splitBytes: 1 })
    const { output_text } = await streamed({ model, input: 'hi' })
    expect(output_text).toBe('It is [REDACTED:github_token], keep it safe.')
  })

  test('an answer that is cut off says so', async () => {
    await both.gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 1 } })
    both.upstream.reply({
      content: 'word '.repeat(60),
      finishReason: model.startsWith('gpt') ? 'length' : 'max_tokens',
    })
    expect(await streamed({ model, input: 'hi' })).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })
})

test('signed reasoning that a guard held back goes back as it was signed', async () => {
  await both.gateway.module('maskmode', { enabled: true, config: {} })
  const model = 'claude-sonnet-4-5'
  const input = [{ role: 'user' as const, content: `I am ${email}.` }]
  const asked = { model, tools: [weather], store: false, reasoning: { effort: 'low' as const } }
  // What could be the beginning of a placeholder waits for its rest, past the end of the thought.
  const thought = 'It may be [EMAIL'
  both.upstream.reply({
    reasoning: thought,
    content: 'A moment, [EMAIL',
    toolCalls: [{ id: 'toolu_1', name: 'weather', arguments: { city: 'Oslo' } }],
    splitBytes: 1,
  })
  const first = await streamed({ ...asked, max_output_tokens: 8000, input })
  await create({
    ...asked,
    max_output_tokens: 8000,
    input: [
      ...input,
      ...(first.output as OpenAI.Responses.ResponseInputItem[]),
      { type: 'function_call_output', call_id: 'toolu_1', output: 'sunny' },
    ],
  })
  const { messages } = both.upstream.last().body as { messages: { content: object[] }[] }
  expect(messages[1]!.content).toEqual([
    { type: 'thinking', thinking: thought, signature: signatureOf(thought) },
    { type: 'text', text: 'A moment, [EMAIL' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
  ])
})

/** Files of the data folder in which a text stands. */
async function onDisk(text: string): Promise<string[]> {
  const entries = await readdir(both.gateway.dataDir, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  const found = await Promise.all(
    files.map(async (file) => ((await readFile(file)).includes(text) ? [file] : [])),
  )
  return found.flat()
}
