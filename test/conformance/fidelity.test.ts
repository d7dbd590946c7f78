import { beforeEach, describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import { conversations } from './conversations.ts'
import { anthropic } from './providers/anthropic.ts'
import { bedrock } from './providers/bedrock.ts'
import { cohere } from './providers/cohere.ts'
import { gemini } from './providers/gemini.ts'
import { mistral } from './providers/mistral.ts'
import { openai } from './providers/openai.ts'
import { askRaw, call, saying, schema, tools } from './raw.ts'
import { startStand } from './stand.ts'
import { wires } from './wires/index.ts'

/**
 * What clients may say and seldom do, on every wire to providers of other languages: strict services must take it, and
 * nothing of it may be lost without a word.
 */

const providers = [openai, anthropic, gemini, bedrock, cohere, mistral]

const stand = shared(() => startStand(providers))
beforeEach(() => stand.reset())

const rows = conversations.flatMap((one) =>
  (one.only ?? providers).map((provider) => ({ ...one, provider, to: provider.name })),
)

test.each(rows)('$name ($wire) is taken by $to, every word of it', async ({ wire, provider, body, says }) => {
  const { status, text, sent } = await askRaw(stand, wire, provider, body)
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  for (const word of says) expect(sent).toContain(word)
})

const ways = wires
  .filter(({ operation }) => operation === 'chat')
  .flatMap((wire) =>
    providers.map((provider) => ({ wire, provider, name: `${wire.id} to ${provider.name}` })),
  )

describe.each(ways)('$name', ({ wire, provider }) => {
  const asked = {
    turns: [{ text: 'hi' }],
    tools: ['look', 'go'].map((name) => ({ name, parameters: schema })),
  }

  test('calls come whole wherever their bytes are cut, words and thoughts beside them', async () => {
    const cell = stand.cell(wire, provider)
    const input = { x: 'Zürich 😀 "quoted" \\ \u2028 end', deep: { list: [1, [], {}] } }
    for (const splitBytes of [1, 7]) {
      cell.reply({
        reasoning: 'Größe 🤔',
        content: ['Na ', 'ja… ', '😀'],
        toolCalls: [
          { name: 'look', arguments: input },
          { name: 'go', arguments: {} },
          { name: 'look', arguments: { x: '' } },
        ],
        splitBytes,
      })
      const answer = await cell.ask({ ...asked, stream: true })
      expect(answer.calls.map(({ name, input }) => [name, input])).toEqual([
        ['look', input],
        ['go', {}],
        ['look', { x: '' }],
      ])
      expect(answer.stop).toBe('tools')
      expect(answer.text + answer.reasoning).toContain('Na ja… 😀')
    }
  })

  test('a line of a megabyte comes whole', async () => {
    const cell = stand.cell(wire, provider)
    const long = 'é😀"\n'.repeat(200_000)
    for (const stream of [false, true]) {
      cell.reply({ content: [long] })
      expect((await cell.ask({ ...asked, stream })).text).toBe(long)
    }
  })

  test('what a model says before it calls goes back to it', async () => {
    const cell = stand.cell(wire, provider)
    for (const stream of [false, true]) {
      cell.reply({ content: 'Let me look.', toolCalls: [{ name: 'look', arguments: { x: 'y' } }] })
      const answer = await cell.ask({ ...asked, stream })
      const results = answer.calls.map(({ id }) => ({ id, text: 'R1' }))
      const told = await cell.ask({ ...asked, turns: [...asked.turns, { answer }, { results }], stream })
      expect(cell.sent.rawBody).toContain('Let me look.')
      cell.expectWhole(told)
    }
  })
})

describe('an answer that calls the tool it was told to', () => {
  test.each([false, true])(
    'ends for the tool, also where OpenAI says it just ended; streamed: %s',
    async (stream) => {
      stand.upstream(openai).reply({ toolCalls: [{ name: 'look', arguments: {} }], finishReason: 'stop' })
      const { text } = await askRaw(stand, 'messages', openai, {
        ...saying('messages', 'hi'),
        tools: tools.messages,
        tool_choice: { type: 'tool', name: 'look' },
        stream,
      })
      expect(text).toContain('"stop_reason":"tool_use"')
    },
  )
})

describe('a call that the limit of tokens cut off', () => {
  test.each(
    (['chat', 'messages', 'responses'] as const).flatMap((wire) => [
      { wire, stream: false },
      { wire, stream: true },
    ]),
  )(
    'comes as far as it came, and is said to be cut off: $wire, streamed: $stream',
    async ({ wire, stream }) => {
      stand.upstream(openai).reply({
        toolCalls: [{ name: 'look', arguments: '{"x":"half of i' }],
        finishReason: 'length',
      })
      const { text } = await askRaw(stand, wire, openai, {
        ...saying(wire, 'hi'),
        tools: tools[wire],
        stream,
      })
      const pieces = text.matchAll(/"(?:arguments|partial_json|delta)":\s*("(?:[^"\\]|\\.)*")/g)
      const written = Array.from(pieces, ([, piece]) => JSON.parse(piece!) as string).join('')
      expect(text + written).toContain('half of i')
      expect(text).toMatch(
        /"(?:finish_reason|stop_reason|reason)":\s*"(?:length|max_tokens|max_output_tokens)"/,
      )
    },
  )
})

describe('a tool of free text whose name is too long', () => {
  const name = `${'a.long.name.'.repeat(10)}patch`

  test.each([openai, anthropic])(
    'goes to $name under a short one and comes back under its own',
    async (provider) => {
      const body = { input: 'hi', tools: [{ type: 'custom', name }], tool_choice: { type: 'custom', name } }
      const { sent } = await askRaw(stand, 'responses', provider, body)
      expect(sent).not.toContain(name)
      const [short] = /a_long_name_[a-z_]*_[0-9a-f]{12}/.exec(sent)!
      stand.upstream(provider).reply({ toolCalls: [{ name: short, arguments: { input: 'text' } }] })
      const { text } = await askRaw(stand, 'responses', provider, body)
      expect(JSON.parse(text).output).toMatchObject([{ type: 'custom_tool_call', name, input: 'text' }])
    },
  )
})

test('what a message’s author is called is named where nobody takes it', async () => {
  const body = { messages: [{ role: 'user', name: 'Ada', content: 'hi' }] }
  for (const provider of [anthropic, gemini, bedrock, cohere])
    expect((await askRaw(stand, 'chat', provider, body)).changes).toContain('-messages.name')
})

test.each([false, true])('calls that nobody numbered stay apart; streamed: %s', async (stream) => {
  const calls = ['a', 'b'].map((id) => call(id, 'look', JSON.stringify({ x: id })))
  const event = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  for (const wire of ['messages', 'responses'] as const) {
    stand.upstream(openai).reply({
      chunks: [event({ role: 'assistant', tool_calls: calls }), event({}, 'tool_calls'), 'data: [DONE]\n\n'],
      body: {
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', tool_calls: calls }, finish_reason: 'tool_calls' },
        ],
      },
    })
    const { text } = await askRaw(stand, wire, openai, {
      ...saying(wire, 'hi'),
      tools: tools[wire],
      stream,
    })
    const made = /"(?:tool_use","id|call_id)":"([ab])"/g
    expect(new Set(Array.from(text.matchAll(made), ([, id]) => id))).toEqual(new Set(['a', 'b']))
  }
})
