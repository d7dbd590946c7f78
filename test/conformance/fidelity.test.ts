import { beforeEach, describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import { anthropic } from './providers/anthropic.ts'
import { bedrock } from './providers/bedrock.ts'
import { cohere } from './providers/cohere.ts'
import { gemini } from './providers/gemini.ts'
import { mistral } from './providers/mistral.ts'
import { openai } from './providers/openai.ts'
import type { TestProvider } from './providers/provider.ts'
import { startStand } from './stand.ts'
import { wires } from './wires/index.ts'

/**
 * What clients may say and seldom do, on every wire to providers of other languages: strict services must take it, and
 * nothing of it may be lost without a word.
 */

const providers = [openai, anthropic, gemini, bedrock, cohere, mistral]
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII='
const paths = { chat: '/v1/chat/completions', messages: '/v1/messages', responses: '/v1/responses' } as const
type WireId = keyof typeof paths

const stand = shared(() => startStand(providers))
beforeEach(() => stand.reset())

/** What a call brought, and what the service was sent for it. */
interface Outcome {
  readonly status: number
  readonly text: string
  readonly changes: string
  readonly sent: string
}

async function ask(wire: WireId, provider: TestProvider, body: object): Promise<Outcome> {
  const response = await fetch(stand.gateway.url + paths[wire], {
    method: 'POST',
    headers: { authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: `${provider.name}/${provider.models.chat}`,
      ...(wire === 'messages' && { max_tokens: 1000 }),
      ...(wire === 'responses' && { store: false }),
      ...body,
    }),
  })
  const { requests } = stand.upstream(provider)
  return {
    status: response.status,
    text: await response.text(),
    changes: response.headers.get('x-params-changed') ?? '',
    sent: requests.at(-1)?.rawBody ?? '',
  }
}

const schema = { type: 'object', properties: { x: { type: 'string' } } }
const tools = {
  chat: ['look', 'go'].map((name) => ({ type: 'function', function: { name, parameters: schema } })),
  messages: ['look', 'go'].map((name) => ({ name, input_schema: schema })),
  responses: ['look', 'go'].map((name) => ({ type: 'function', name, parameters: schema, strict: false })),
}
const call = (id: string, name: string, json: string) => ({
  id,
  type: 'function',
  function: { name, arguments: json },
})

const conversations: readonly {
  readonly name: string
  readonly wire: WireId
  readonly body: object
  /** Words that the service must be sent, in this order where it is one. */
  readonly says: readonly string[]
  readonly only?: readonly TestProvider[]
}[] = [
  {
    name: 'instructions in every place',
    wire: 'chat',
    body: {
      messages: [
        { role: 'system', content: 'S1' },
        { role: 'developer', content: [{ type: 'text', text: 'S2' }] },
        { role: 'user', content: 'Q1' },
        { role: 'system', content: 'S3' },
        { role: 'assistant', content: 'A1' },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['S1', 'S2', 'Q1', 'S3', 'A1', 'Q2'],
  },
  {
    name: 'a greeting of the assistant’s first',
    wire: 'chat',
    body: {
      messages: [
        { role: 'system', content: 'S1' },
        { role: 'assistant', content: 'A0' },
        { role: 'user', content: 'Q1' },
      ],
    },
    says: ['S1', 'A0', 'Q1'],
  },
  {
    name: 'instructions between the results of parallel calls',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [call('a', 'look', ''), call('b', 'go', '{"x":"é😀"}')],
        },
        { role: 'tool', tool_call_id: 'b', content: 'R2' },
        { role: 'system', content: 'S1' },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'R1' }] },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['Q1', 'é😀', 'R2', 'R1', 'S1', 'Q2'],
    only: [anthropic, gemini, bedrock],
  },
  {
    name: 'parallel calls in two messages',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        { role: 'assistant', content: 'A1', tool_calls: [call('a', 'look', '{}')] },
        { role: 'assistant', content: 'A2', tool_calls: [call('b', 'go', '{}')] },
        { role: 'tool', tool_call_id: 'b', content: 'R2' },
        { role: 'tool', tool_call_id: 'a', content: 'R1' },
      ],
    },
    says: ['Q1', 'A1', 'A2', 'R2', 'R1'],
    only: [anthropic, gemini, bedrock],
  },
  {
    name: 'empty words, results and lists',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        { role: 'assistant', content: null, tool_calls: [call('a', 'look', '{}'), call('b', 'go', ' ')] },
        { role: 'tool', tool_call_id: 'a', content: '' },
        { role: 'tool', tool_call_id: 'b', content: [] },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['Q1', 'look', 'go', 'Q2'],
  },
  {
    name: 'arguments that a model cut off or wrote badly',
    wire: 'chat',
    body: {
      tools: tools.chat,
      messages: [
        { role: 'user', content: 'Q1' },
        { role: 'assistant', content: 'A1', tool_calls: [call('a', 'look', '{"x": "half of i')] },
        { role: 'tool', tool_call_id: 'a', content: 'Not JSON; try again.' },
      ],
    },
    says: ['Q1', 'A1', 'half of i', 'try again'],
  },
  {
    name: 'results with pictures',
    wire: 'messages',
    body: {
      tools: tools.messages,
      messages: [
        { role: 'user', content: 'Q1' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'A1' },
            { type: 'tool_use', id: 't1', name: 'look', input: {} },
            { type: 'tool_use', id: 't2', name: 'go', input: { x: 'é😀' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't2',
              content: [
                { type: 'text', text: 'R2' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
                { type: 'text', text: 'R3' },
              ],
            },
            { type: 'text', text: 'Q2' },
            { type: 'tool_result', tool_use_id: 't1', content: 'R1', is_error: true },
          ],
        },
      ],
    },
    says: ['Q1', 'A1', 'é😀', 'R2', 'R3', png, 'Q2'],
  },
  {
    name: 'words between calls, and instructions in the midst',
    wire: 'messages',
    body: {
      system: [
        { type: 'text', text: 'S1' },
        { type: 'text', text: 'S2' },
      ],
      tools: tools.messages,
      messages: [
        { role: 'user', content: 'Q1' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'A1' },
            { type: 'tool_use', id: 't1', name: 'look', input: {} },
            { type: 'text', text: 'A2' },
            { type: 'tool_use', id: 't2', name: 'go', input: { x: 'y' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1' },
            { type: 'tool_result', tool_use_id: 't2', content: [] },
          ],
        },
        { role: 'system', content: 'S3' },
        { role: 'assistant', content: 'A3' },
        { role: 'user', content: 'Q2' },
      ],
    },
    says: ['S1', 'S2', 'Q1', 'A1', 'A2', 'S3', 'A3', 'Q2'],
  },
  {
    name: 'words between calls',
    wire: 'responses',
    body: {
      instructions: 'S1',
      tools: tools.responses,
      input: [
        { type: 'message', role: 'user', content: 'Q1' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'T1' }] },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'A1', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '' },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'A2', annotations: [] }],
        },
        { type: 'function_call', call_id: 'c2', name: 'go', arguments: '{"x":"é😀"}' },
        {
          type: 'function_call_output',
          call_id: 'c2',
          output: [
            { type: 'input_text', text: 'R2' },
            { type: 'input_image', image_url: `data:image/png;base64,${png}` },
          ],
        },
        { type: 'function_call_output', call_id: 'c1', output: '' },
        { type: 'message', role: 'developer', content: 'S2' },
        { type: 'message', role: 'user', content: 'Q2' },
      ],
    },
    says: ['S1', 'Q1', 'A1', 'A2', 'é😀', 'R2', png, 'S2', 'Q2'],
  },
]

const rows = conversations.flatMap((one) =>
  (one.only ?? providers).map((provider) => ({ ...one, provider, to: provider.name })),
)

test.each(rows)('$name ($wire) is taken by $to, every word of it', async ({ wire, provider, body, says }) => {
  const { status, text, sent } = await ask(wire, provider, body)
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
      cell.upstream.reply({
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
      cell.upstream.reply({ content: [long] })
      expect((await cell.ask({ ...asked, stream })).text).toBe(long)
    }
  })

  test('what a model says before it calls goes back to it', async () => {
    const cell = stand.cell(wire, provider)
    for (const stream of [false, true]) {
      cell.upstream.reply({ content: 'Let me look.', toolCalls: [{ name: 'look', arguments: { x: 'y' } }] })
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
      const { text } = await ask('messages', openai, {
        messages: [{ role: 'user', content: 'hi' }],
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
      const said = { role: 'user', content: 'hi' }
      const { text } = await ask(wire, openai, {
        ...(wire === 'responses' ? { input: [said] } : { messages: [said] }),
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
      const { sent } = await ask('responses', provider, body)
      expect(sent).not.toContain(name)
      const [short] = /a_long_name_[a-z_]*_[0-9a-f]{12}/.exec(sent)!
      stand.upstream(provider).reply({ toolCalls: [{ name: short, arguments: { input: 'text' } }] })
      const { text } = await ask('responses', provider, body)
      expect(JSON.parse(text).output).toMatchObject([{ type: 'custom_tool_call', name, input: 'text' }])
    },
  )
})

test('what a message’s author is called is named where nobody takes it', async () => {
  const body = { messages: [{ role: 'user', name: 'Ada', content: 'hi' }] }
  for (const provider of [anthropic, gemini, bedrock, cohere])
    expect((await ask('chat', provider, body)).changes).toContain('-messages.name')
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
    const said = [{ role: 'user', content: 'hi' }]
    const { text } = await ask(wire, openai, {
      ...(wire === 'responses' ? { input: said } : { messages: said }),
      tools: tools[wire],
      stream,
    })
    const made = /"(?:tool_use","id|call_id)":"([ab])"/g
    expect(new Set(Array.from(text.matchAll(made), ([, id]) => id))).toEqual(new Set(['a', 'b']))
  }
})
