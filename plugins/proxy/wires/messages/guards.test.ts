import Anthropic from '@anthropic-ai/sdk'
import { beforeEach, describe, expect, test } from 'vitest'
import { bareChain } from '../../../../test/bare.ts'
import { startBoth } from '../../../../test/both.ts'
import { shared } from '../../../../test/shared.ts'

const both = shared(startBoth)
beforeEach(async () => {
  both.upstream.reset()
  await bareChain(both.gateway)
})

const email = 'ada@example.com'
const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
const weather = { name: 'weather', input_schema: { type: 'object' as const } }

/** A conversation that says something in every place where something can be said. */
const saying = (words: string) => ({
  max_tokens: 500,
  system: [{ type: 'text', text: `Know ${words}.` }],
  tools: [weather],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: `I am ${words}.` },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: `By ${words}.` } },
      ],
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'weather', input: { of: words } }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: `For ${words}.` }] },
        { type: 'text', text: `Once more: ${words}` },
      ],
    },
  ],
})

const create = (model: string, fields: object) =>
  both.anthropic.messages.create({ model, ...fields } as Anthropic.MessageCreateParamsNonStreaming)
const streamed = (model: string, fields: object) =>
  both.anthropic.messages.stream({ model, ...fields } as Anthropic.MessageStreamParams).finalMessage()

/** Guards that hold back different parts of a text, and settings with which they find nothing. */
const lookingOn: [string, object][] = [
  ['guardrail', { rules: [{ name: 'Emails', preset: 'email', action: 'redact' }] }],
  ['maskmode', { replies: true }],
  ['secretscan', {}],
  ['toxicfilter', {}],
  ['agegate', { default_audience: 'teen', policies: { teen: '' } }],
]

/** A provider that does not keep to the limit. */
async function longStream(model: string): Promise<string[]> {
  const isClaude = model.startsWith('claude')
  const response = await fetch(both.upstream.url + (isClaude ? '/v1/messages' : '/v1/chat/completions'), {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      model,
      max_tokens: 500,
      stream: true,
      messages: [{ role: 'user', content: 'word '.repeat(60) }],
    }),
  })
  return [await response.text()]
}

const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

describe.each(['claude-haiku-4-5', 'gpt-4o-mini'])('guards of messages with %s', (model) => {
  test('the provider sees no personal data, and the client sees its own again', async () => {
    await both.gateway.module('maskmode', { enabled: true, config: {} })
    for (const ask of [create, streamed]) {
      both.upstream.reply({})
      expect(textOf(await ask(model, saying(email)))).toContain(email)
      expect(both.upstream.last().rawBody).not.toContain(email)
      expect(both.upstream.last().rawBody).toContain('Once more: ')
    }
  })

  test('a secret in a request is refused before the provider sees it, wherever it stands', async () => {
    await both.gateway.module('secretscan', { enabled: true, config: {} })
    const all = saying('nobody')
    const one = { max_tokens: 500, messages: [{ role: 'user', content: 'hi' }] }
    const places = [
      { ...one, system: secret },
      { ...one, messages: [{ role: 'user', content: secret }] },
      { ...one, messages: saying(secret).messages.slice(0, 1) },
      { ...all, messages: saying(secret).messages.map((m, i) => (i === 0 ? all.messages[0] : m)) },
      { ...one, tools: [{ ...weather, description: secret }] },
    ]
    for (const fields of places)
      await expect(create(model, fields)).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    expect(both.upstream.requests).toHaveLength(0)
  })

  test('a secret in an answer is taken out, plain and streamed byte by byte, in calls too', async () => {
    await both.gateway.module('secretscan', { enabled: true, config: {} })
    const fields = { max_tokens: 500, tools: [weather], messages: [{ role: 'user', content: 'hi' }] }
    const script = { content: `It is ${secret}`, toolCalls: [{ name: 'weather', arguments: { of: secret } }] }
    for (const ask of [create, streamed]) {
      both.upstream.reply({ ...script, splitBytes: 1 })
      const answer = await ask(model, fields)
      expect(JSON.stringify(answer)).not.toContain(secret)
      expect(answer.stop_reason).toBe('tool_use')
      expect(answer.content.find(({ type }) => type === 'tool_use')).toMatchObject({
        input: { of: '[REDACTED:github_token]' },
      })
    }
    both.upstream.reply({ content: `It is ${secret}, keep it safe.`, splitBytes: 1 })
    expect(textOf(await streamed(model, fields))).toBe('It is [REDACTED:github_token], keep it safe.')
  })

  test('a stream keeps its blocks and their order while a guard looks on', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const fields = {
      max_tokens: 4000,
      thinking,
      tools: [weather],
      messages: [{ role: 'user', content: 'hi' }],
    }
    const script = {
      reasoning: 'The user wants to know.',
      content: 'I will look it up now',
      toolCalls: [
        { id: 't', name: 'weather', arguments: { of: 'Rome' } },
        { id: 'u', name: 'weather', arguments: { of: 'Oslo' } },
      ],
    }
    const blocks = async (splitBytes?: number): Promise<unknown> => {
      both.upstream.reply({ ...script, ...(splitBytes && { splitBytes }) })
      return (await streamed(model, fields)).content
    }
    const bare = await blocks()
    for (const [guard, config] of lookingOn) {
      await both.gateway.module(guard, { enabled: true, config })
      for (const splitBytes of [undefined, 1])
        expect([guard, await blocks(splitBytes)]).toEqual([guard, bare])
      await both.gateway.module(guard, { enabled: false })
    }
  })

  test('an answer that is cut off says so', async () => {
    await both.gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 2 } })
    both.upstream.reply({ chunks: await longStream(model) })
    const fields = { max_tokens: 500, messages: [{ role: 'user', content: 'hi' }] }
    expect((await streamed(model, fields)).stop_reason).toBe('max_tokens')
  })
})
