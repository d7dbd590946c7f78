import { beforeEach, describe, expect, test } from 'vitest'
import { shared } from '../shared.ts'
import type { Script } from '../upstream/index.ts'
import { anthropic } from './providers/anthropic.ts'
import { bedrock } from './providers/bedrock.ts'
import { cohere } from './providers/cohere.ts'
import { gemini } from './providers/gemini.ts'
import { openai } from './providers/openai.ts'
import { schema } from './raw.ts'
import { startStand } from './stand.ts'
import { wires } from './wires/index.ts'

/** What services really send and documentation seldom shows: each is the same answer on every wire, at every cut. */

const stand = shared(() => startStand([openai, anthropic, cohere, gemini, bedrock]))
beforeEach(() => stand.reset())

const chatWires = wires.filter(({ operation }) => operation === 'chat')
const asked = {
  turns: [{ text: 'hi' }],
  tools: ['look', 'go'].map((name) => ({ name, parameters: schema })),
}
const cuts: readonly Partial<Script>[] = [{}, { splitBytes: 1 }, { splitBytes: 7 }]

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null): string =>
  event({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  })
const done = 'data: [DONE]\n\n'
const calling = (...deltas: readonly object[]): string[] =>
  deltas.map((delta) => chunk({ role: 'assistant', tool_calls: [delta] }))
const fn = (name: string, json: unknown) => ({ type: 'function', function: { name, arguments: json } })
const whole = (tool_calls: readonly object[], finish_reason = 'tool_calls') => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls }, finish_reason }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
})
const ended = [chunk({}, 'tool_calls'), done]

describe.each(chatWires)('$id', (wire) => {
  /** The calls of the answer that a provider gives with this script, at every cut of a stream. */
  async function callsOf(provider: typeof openai, script: Script): Promise<unknown[]> {
    const cell = stand.cell(wire, provider)
    const scripts = script.chunks ? cuts.map((cut) => ({ ...script, ...cut })) : [script]
    const found: unknown[] = []
    for (const one of scripts) {
      cell.upstream.reply(one)
      const { calls, stop } = await cell.ask({ ...asked, stream: script.chunks !== undefined })
      expect(stop).toBe('tools')
      expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
      found.push(calls.map(({ name, input }) => [name, input]))
    }
    for (const calls of found) expect(calls).toEqual(found[0])
    return found[0] as unknown[]
  }

  describe('calls that a compatible service numbers all 0', () => {
    const two = [
      ['look', { x: 'a' }],
      ['look', { x: 'b' }],
    ]

    test.each([
      {
        name: 'each whole, as Google sends them',
        chunks: calling(
          { index: 0, id: 'call_a', ...fn('look', '{"x":"a"}') },
          { index: 0, id: 'call_b', ...fn('look', '{"x":"b"}') },
        ),
      },
      {
        name: 'in pieces',
        chunks: calling(
          { index: 0, id: 'call_a', ...fn('look', '') },
          { index: 0, function: { arguments: '{"x":' } },
          { index: 0, function: { arguments: '"a"}' } },
          { index: 0, id: 'call_b', ...fn('look', '') },
          { index: 0, function: { arguments: '{"x":"b' } },
          { index: 0, function: { arguments: '"}' } },
        ),
      },
      {
        name: 'in one event',
        chunks: [
          chunk({
            tool_calls: [
              { index: 0, id: 'call_a', ...fn('look', '{"x":"a"}') },
              { index: 0, id: 'call_b', ...fn('look', '{"x":"b"}') },
            ],
          }),
        ],
      },
      {
        name: 'without numbers',
        chunks: calling(
          { id: 'call_a', ...fn('look', '{"x":"a"}') },
          { id: 'call_b', ...fn('look', '{"x":"b"}') },
        ),
      },
      {
        name: 'without ids',
        chunks: calling(
          { index: 0, id: '', ...fn('look', '{"x":"a"}') },
          { index: 0, id: '', ...fn('look', '{"x":"b"}') },
        ),
      },
    ])('are two: $name', async ({ chunks }) => {
      expect(await callsOf(openai, { chunks: [...chunks, ...ended] })).toEqual(two)
    })

    test('a number that is used later is not taken twice', async () => {
      const chunks = calling(
        { index: 0, id: 'call_a', ...fn('look', '{"x":"a"}') },
        { index: 0, id: 'call_b', ...fn('look', '{"x":') },
        { index: 1, id: 'call_c', ...fn('go', '{"x":') },
        { index: 0, function: { arguments: '"b"}' } },
        { index: 1, function: { arguments: '"c"}' } },
      )
      expect(await callsOf(openai, { chunks: [...chunks, ...ended] })).toEqual([...two, ['go', { x: 'c' }]])
    })
  })

  test.each([
    {
      name: 'whose id and name come with every piece',
      deltas: [
        { index: 0, id: 'call_a', ...fn('look', '') },
        { index: 0, id: 'call_a', ...fn('look', '{"x":') },
        { index: 0, id: 'call_a', ...fn('look', '"a"}') },
        { index: 0, id: 'call_a', ...fn('look', '') },
      ],
    },
    {
      name: 'whose pieces have an id each',
      deltas: [
        { index: 0, id: 'chatcmpl-tool-1', ...fn('look', '') },
        { index: 0, id: 'chatcmpl-tool-2', function: { arguments: '{"x":' } },
        { index: 0, id: 'chatcmpl-tool-3', function: { name: null, arguments: '"a"}' } },
      ],
    },
  ])('a call $name is one', async ({ deltas }) => {
    expect(await callsOf(openai, { chunks: [...calling(...deltas), ...ended] })).toEqual([
      ['look', { x: 'a' }],
    ])
  })

  test('arguments that are an object are the arguments', async () => {
    const call = { id: 'call_a', ...fn('look', { x: 'a', deep: [{ y: null }] }) }
    const wanted = [['look', { x: 'a', deep: [{ y: null }] }]]
    expect(await callsOf(openai, { body: whole([call]) })).toEqual(wanted)
    const said = chunk({ role: 'assistant', content: 'Well.' })
    const chunks = [said, ...calling({ index: 0, ...call }), ...ended]
    expect(await callsOf(openai, { chunks })).toEqual(wanted)
  })

  describe.each(['null', ' null ', '', null, undefined])('a call whose arguments are %j', (json) => {
    test('has none, whole and in pieces', async () => {
      const calls = [
        { id: 'call_a', ...fn('look', json) },
        { id: 'call_b', ...fn('go', '{"x":"b"}') },
      ]
      const wanted = [
        ['look', {}],
        ['go', { x: 'b' }],
      ]
      expect(await callsOf(openai, { body: whole(calls) })).toEqual(wanted)
      const deltas = calls.map((call, index) => ({ index, ...call }))
      expect(await callsOf(openai, { chunks: [...calling(...deltas), ...ended] })).toEqual(wanted)
    })
  })

  describe('a call of Cohere’s without arguments', () => {
    test.each([null, 'null', '', undefined])('%j is an empty object', async (json) => {
      const call = { id: 'look_1', ...fn('look', json) }
      const message = { role: 'assistant', tool_plan: 'I look.', tool_calls: [call] }
      const body = { id: 'i', finish_reason: 'TOOL_CALL', message }
      expect(await callsOf(cohere, { body })).toEqual([['look', {}]])
      const delta = (message: object) => ({ delta: { message } })
      const pieces = json === 'null' ? ['nu', 'll'] : json === undefined ? [] : [json]
      const events = [
        { id: 'i', type: 'message-start', ...delta({ role: 'assistant' }) },
        { type: 'tool-call-start', index: 0, ...delta({ tool_calls: { ...call, ...fn('look', '') } }) },
        ...pieces.map((piece) => ({
          type: 'tool-call-delta',
          index: 0,
          ...delta({ tool_calls: { function: { arguments: piece } } }),
        })),
        { type: 'tool-call-end', index: 0 },
        { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
      ]
      expect(await callsOf(cohere, { chunks: events.map(event) })).toEqual([['look', {}]])
    })
  })

  test('a call of Gemini’s whose arguments are null has none', async () => {
    const content = { role: 'model', parts: [{ functionCall: { name: 'look', args: null } }] }
    const answer = { candidates: [{ content, finishReason: 'STOP' }], responseId: 'r' }
    // Google's own clients get what Google says.
    const wanted = [['look', wire.id === 'gemini' ? null : {}]]
    expect(await callsOf(gemini, { body: answer })).toEqual(wanted)
    expect(await callsOf(gemini, { chunks: [event(answer)] })).toEqual(wanted)
  })

  describe('a message of Claude’s that is there when it begins', () => {
    const content = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'toolu_1', name: 'look', input: { x: 'a' }, caller: { type: 'direct' } },
      { type: 'tool_use', id: 'toolu_2', name: 'go', input: {} },
    ]
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 4 },
    }
    const named = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
      `event: ${data.type}\n${event(data)}`
    const wanted = [
      ['look', { x: 'a' }],
      ['go', {}],
    ]

    test('brings its content and why it ended', async () => {
      const start = { type: 'message_start', message: { ...message, content, stop_reason: 'tool_use' } }
      const delta = { stop_reason: 'tool_use', stop_sequence: null }
      const told = named({ type: 'message_delta', delta, usage: { output_tokens: 4 } })
      for (const between of [[told], []]) {
        const chunks = [named(start), ...between, named({ type: 'message_stop' })]
        expect(await callsOf(anthropic, { chunks })).toEqual(wanted)
      }
    })

    test('goes on with the blocks that follow', async () => {
      const chunks = [
        named({ type: 'message_start', message: { ...message, content: content.slice(0, 2) } }),
        named({ type: 'content_block_start', index: 2, content_block: content[2] }),
        named({ type: 'content_block_stop', index: 2 }),
        named({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } }),
        named({ type: 'message_stop' }),
      ]
      expect(await callsOf(anthropic, { chunks })).toEqual(wanted)
    })

    test('does not carry a secret past a guard', async () => {
      const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
      const there = [content[0], { ...content[1], input: { x: secret } }]
      const chunks = [
        named({ type: 'message_start', message: { ...message, content: there, stop_reason: 'tool_use' } }),
        named({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } }),
        named({ type: 'message_stop' }),
      ]
      await stand.gateway.module('secretscan', { enabled: true, config: {} })
      try {
        expect(await callsOf(anthropic, { chunks })).toEqual([['look', { x: '[REDACTED:github_token]' }]])
      } finally {
        await stand.gateway.module('secretscan', { enabled: false })
      }
    })

    test('may begin twice, and no other may begin in it', async () => {
      const begin = (id: string): string =>
        named({ type: 'message_start', message: { ...message, id, content: [] } })
      const rest = [
        named({ type: 'content_block_start', index: 0, content_block: content[1] }),
        named({ type: 'content_block_stop', index: 0 }),
        begin('msg_1'),
        named({ type: 'content_block_start', index: 1, content_block: content[2] }),
        named({ type: 'content_block_stop', index: 1 }),
        named({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } }),
        named({ type: 'message_stop' }),
      ]
      const chunks = [begin('msg_1'), begin('msg_1'), ...rest]
      expect(await callsOf(anthropic, { chunks })).toEqual(wanted)
      const cell = stand.cell(wire, anthropic)
      cell.upstream.reply({ chunks: [begin('msg_1'), rest[0]!, rest[1]!, begin('msg_2'), ...rest.slice(3)] })
      const problem = await cell.problem(cell.ask({ ...asked, stream: true }))
      expect(problem.message).toContain('second message')
    })
  })
})
