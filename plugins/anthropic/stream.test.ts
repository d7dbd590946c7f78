import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Call, Chunk, Target } from '#kernel'
import { Assembler } from '#kit'
import { Trace } from '../../kernel/call/trace.ts'
import { anthropicProtocol } from './protocol.ts'

const target = {
  provider: { name: 'anthropic', baseUrl: 'http://localhost', headers: {} },
  model: 'claude-haiku-4-5',
  key: undefined,
} as unknown as Target
const call = (wire: string) =>
  ({
    wire,
    request: { model: 'claude-haiku-4-5', messages: [] },
    trace: new Trace(),
  }) as unknown as Call
const head = { status: 200, headers: {} }

const frame = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const delta = (index: number, fields: object) => frame({ type: 'content_block_delta', index, delta: fields })
const start = (index: number, block: object) =>
  frame({ type: 'content_block_start', index, content_block: block })
const stop = (index: number) => frame({ type: 'content_block_stop', index })

const recorded = [
  frame({
    type: 'message_start',
    message: {
      id: 'msg_1',
      model: 'claude-haiku-4-5',
      usage: { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 1 },
    },
  }),
  start(0, { type: 'thinking', thinking: '', signature: '' }),
  frame({ type: 'ping' }),
  delta(0, { type: 'thinking_delta', thinking: 'Größe \u{1f600}' }),
  delta(0, { type: 'signature_delta', signature: 'Sig==' }),
  stop(0),
  start(1, { type: 'redacted_thinking', data: 'RW5j' }),
  stop(1),
  start(2, { type: 'text', text: '' }),
  delta(2, { type: 'text_delta', text: 'Let me “see”.' }),
  delta(2, { type: 'text_delta', text: ' \u{1f600}' }),
  stop(2),
  start(3, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '{"query":' }),
  delta(3, { type: 'input_json_delta', partial_json: '"q"}' }),
  stop(3),
  start(4, { type: 'tool_use', id: 't1', name: 'weather', input: {} }),
  delta(4, { type: 'input_json_delta', partial_json: '' }),
  delta(4, { type: 'input_json_delta', partial_json: '{"city":"Kö' }),
  delta(4, { type: 'input_json_delta', partial_json: 'ln"}' }),
  stop(4),
  start(5, { type: 'tool_use', id: 't2', name: 'now', input: {} }),
  stop(5),
  frame({
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 33, input_tokens: null },
  }),
  frame({ type: 'message_stop' }),
].join('')

function decoded(text: string | Buffer, cuts: readonly number[], wire = 'chat'): Chunk[] {
  const bytes = Buffer.from(text)
  const decoder = anthropicProtocol.decoder(head, call(wire), target)
  const bounds = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  const chunks = bounds
    .slice(1)
    .flatMap((end, i) => [...decoder.push(Buffer.from(bytes.subarray(bounds[i], end)))])
  return [...chunks, ...decoder.end()]
}

function whole(chunks: readonly Chunk[]) {
  const assembler = new Assembler()
  for (const { data } of chunks) assembler.add(data)
  const { created: _, ...rest } = assembler.completion()
  return rest
}

const length = Buffer.byteLength(recorded)

describe('a streamed message', () => {
  it('is the whole one', () => {
    expect(whole(decoded(recorded, []))).toEqual({
      id: 'msg_1',
      object: 'chat.completion',
      model: 'claude-haiku-4-5',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          native_finish_reason: 'tool_use',
          message: {
            role: 'assistant',
            content: 'Let me “see”. \u{1f600}',
            reasoning_content: 'Größe \u{1f600}',
            reasoning_details: [
              {
                type: 'reasoning.text',
                format: 'anthropic-claude-v1',
                index: 0,
                text: 'Größe \u{1f600}',
                signature: 'Sig==',
              },
              { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', index: 1, data: 'RW5j' },
            ],
            vendor_blocks: [
              { index: 3, type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
            ],
            tool_calls: [
              { id: 't1', type: 'function', function: { name: 'weather', arguments: '{"city":"Köln"}' } },
              { id: 't2', type: 'function', function: { name: 'now', arguments: '{}' } },
            ],
          },
        },
      ],
      usage: {
        prompt_tokens: 13,
        completion_tokens: 33,
        total_tokens: 46,
        prompt_tokens_details: { cached_tokens: 4, cache_write_5m_tokens: 0, cache_write_1h_tokens: 0 },
      },
    })
  })

  it('is the same for every cut in two, and for every way of cutting it in more', () => {
    const expected = whole(decoded(recorded, []))
    for (let cut = 1; cut < length; cut += 1) expect(whole(decoded(recorded, [cut]))).toEqual(expected)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: length })), (cuts) => {
        expect(whole(decoded(recorded, cuts))).toEqual(expected)
      }),
    )
  })

  it('keeps every byte for who speaks the wire, and says the same', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: length })), (cuts) => {
        const chunks = decoded(recorded, cuts, 'messages')
        expect(Buffer.concat(chunks.map(({ raw }) => raw!)).toString()).toBe(recorded)
        expect(whole(chunks)).toEqual(whole(decoded(recorded, [])))
      }),
    )
  })

  const say = (text: string): string => delta(0, { type: 'text_delta', text })
  const begin =
    frame({ type: 'message_start', message: { id: 'msg_1' } }) + start(0, { type: 'text', text: '' })

  it('has one chunk of the deltas that come together and add to the same text', () => {
    const end = stop(0) + frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' } })
    const thoughts = ['a', 'b', 'c']
      .map((thinking) => delta(1, { type: 'thinking_delta', thinking }))
      .join('')
    const block = start(1, { type: 'thinking', thinking: '', signature: '' }) + thoughts + stop(1)
    const text = `${begin}${['a', ' "b', '\\n', 'ć'].map(say).join('')}${end}${block}${frame({ type: 'message_stop' })}`
    const native = decoded(text, [], 'messages')
    expect(native.map(({ events }) => events)).toEqual([1, 1, 1, 3, 1, 1, 1, 1, 2, 1, 1])
    expect(Buffer.concat(native.map(({ raw }) => raw!)).toString()).toBe(text)
    const chunks = decoded(text, [])
    expect(
      chunks.filter(({ events }) => events > 1).map(({ data, events }) => [data.choices[0]!.delta, events]),
    ).toEqual([
      [{ content: ' "b\\nć' }, 3],
      [expect.objectContaining({ reasoning_content: 'bc' }), 2],
    ])
  })

  it('has one chunk of the arguments of a call that come together', () => {
    const parts = ['{"city', '":"K', 'öln', '"}'].map((partial_json) =>
      delta(0, { type: 'input_json_delta', partial_json }),
    )
    const tool = start(0, { type: 'tool_use', id: 't1', name: 'weather', input: {} })
    const text = frame({ type: 'message_start', message: { id: 'msg_1' } }) + tool + parts.join('') + stop(0)
    const chunks = decoded(text + frame({ type: 'message_stop' }), [])
    expect(chunks.map(({ events }) => events)).toEqual([1, 1, 1, 3])
    expect(chunks.at(-1)!.data.choices[0]!.delta!.tool_calls).toEqual([
      { index: 0, function: { arguments: '":"Köln"}' } },
    ])
  })

  it('gives the deltas before one that is no JSON, or whose block has ended, and then an error', () => {
    const given: string[] = []
    const read = (events: string): void => {
      given.length = 0
      for (const chunk of anthropicProtocol.decoder(head, call('chat'), target).push(Buffer.from(events)))
        given.push(String(chunk.data.choices[0]?.delta?.content))
    }
    const odd = say('x').replace('"x"', '"\\x"')
    expect(() => read(begin + say('a') + say('b') + odd + say('c'))).toThrow('not a JSON object')
    expect(given).toEqual(['', 'a', 'b'])
    expect(() => read(begin + say('a') + say('b') + say('c') + stop(0) + say('d'))).toThrow('had not begun')
    expect(given).toEqual(['', 'a', 'bc'])
  })

  it('takes no text of another field for that of the delta', () => {
    const event = (text: string): string =>
      `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"text":"${text}","delta":{"type":"text_delta","\\u0074ext":"a"}}\n\n`
    const chunks = decoded(`${begin}${event('x')}${event('y')}${frame({ type: 'message_stop' })}`, [])
    expect(chunks.map(({ data }) => data.choices[0]?.delta?.content)).toEqual(['', 'a', 'a'])
  })

  it('has no chunk without a choice but the one for usage', () => {
    const empty = decoded(recorded, []).filter(({ data }) => data.choices.length === 0)
    expect(empty.map(({ data }) => data.usage !== undefined)).toEqual([true])
  })

  it('tells what a conversation was compacted to', () => {
    const block = { type: 'compaction', content: null, encrypted_content: null }
    const more = { type: 'compaction_delta', content: 'So far: …', encrypted_content: 'RW5j' }
    const text = recorded.replace(
      start(3, { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} }),
      (next) => start(7, block) + delta(7, more) + stop(7) + next,
    )
    expect(whole(decoded(text, [])).choices?.[0]?.message?.vendor_blocks).toContainEqual({
      index: 7,
      type: 'compaction',
      content: 'So far: …',
      encrypted_content: 'RW5j',
    })
  })

  it('that ends before its end is an error, wherever it does', () => {
    const last = Buffer.byteLength(recorded.slice(0, recorded.lastIndexOf('event: message_stop')))
    for (let end = 0; end <= last; end += 1)
      expect(() => decoded(Buffer.from(recorded).subarray(0, end), [])).toThrow(/anthropic/)
  })

  it.each([0, 1, 2, 3, 4])('that begins block %i twice is an error', (index) => {
    const events = recorded.split(/(?<=\n\n)/)
    const at = events.findIndex((event) => event.includes(`"content_block_start","index":${index}`))
    expect(() => decoded(events.toSpliced(at, 0, events[at]!).join(''), [])).toThrow('out of order')
  })

  it('with its events out of order is an error', () => {
    const events = recorded.split(/(?<=\n\n)/)
    const without = (n: number): string => events.toSpliced(n, 1).join('')
    expect(() => decoded(without(0), [])).toThrow('out of order')
    expect(() => decoded(without(1), [])).toThrow('had not begun')
    expect(() => decoded(without(5), [])).not.toThrow()
    expect(() => decoded(recorded.replace('{"type":"ping"}', '{"type":'), [])).toThrow('not a JSON object')
  })

  it('goes on over events and deltas that nobody knows yet', () => {
    const novel = frame({ type: 'novelty', x: 1 }) + delta(0, { type: 'novel_delta' })
    const text = recorded.replace(frame({ type: 'ping' }), novel)
    expect(whole(decoded(text, []))).toEqual(whole(decoded(recorded, [])))
  })
})
