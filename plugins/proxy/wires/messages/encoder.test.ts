import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Chunk, type Completion, type CompletionChunk, type Delta, providerError } from '#kernel'
import { toChunks } from '#kit'
import { messageOf } from './answer.ts'
import { MessagesEncoder } from './encoder.ts'

interface Event {
  readonly type: string
  readonly index?: number
  readonly message?: { readonly [field: string]: unknown }
  readonly content_block?: { type: string; [field: string]: unknown }
  readonly delta?: Readonly<Record<string, unknown>>
  readonly usage?: object
}

const request = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] }
const encoder = (passing = false) => new MessagesEncoder(passing, request)

const eventsOf = (text: string): Event[] =>
  text
    .split('\n\n')
    .filter((frame) => frame !== '')
    .map((frame) => {
      const [name, data] = frame.split('\n')
      const event = JSON.parse(data!.slice('data: '.length)) as Event
      expect(name).toBe(`event: ${event.type}`)
      return event
    })

function encoded(chunks: readonly Chunk[], one = encoder()): Event[] {
  const text = chunks.map((chunk) => one.chunks([chunk]).toString()).join('')
  return eventsOf(text + one.end())
}

/** Reads events as strictly as the wire allows them, and gives the message. */
function read(events: readonly Event[]) {
  const [first, ...rest] = events
  expect(first!.type).toBe('message_start')
  const content: Record<string, unknown>[] = []
  let open: Record<string, unknown> | undefined
  let json = ''
  let end: Event | undefined
  for (const [i, event] of rest.entries()) {
    const { type, index, content_block: block, delta = {} } = event
    if (type === 'content_block_start') {
      expect({ open, index, end }).toEqual({ open: undefined, index: content.length, end: undefined })
      open = { ...block }
      content.push(open)
      json = ''
    } else if (type === 'content_block_delta') {
      expect(open).toBeDefined()
      expect(index).toBe(content.length - 1)
      if (delta.type === 'text_delta') open!.text = `${open!.text}${delta.text}`
      else if (delta.type === 'thinking_delta') open!.thinking = `${open!.thinking}${delta.thinking}`
      else if (delta.type === 'signature_delta') open!.signature = delta.signature
      else json += delta.partial_json
    } else if (type === 'content_block_stop') {
      expect(index).toBe(content.length - 1)
      if (open!.type === 'tool_use') open!.input = json === '' ? {} : JSON.parse(json)
      open = undefined
    } else if (type === 'message_delta') {
      expect({ open, end }).toEqual({ open: undefined, end: undefined })
      end = event
    } else {
      expect(type).toBe('message_stop')
      expect(i).toBe(rest.length - 1)
    }
  }
  expect(events.at(-1)!.type).toBe('message_stop')
  const { stop_reason } = end!.delta!
  return { ...first!.message, content, stop_reason, usage: end!.usage }
}

const word = fc.string({ minLength: 1, unit: 'grapheme' })
const calls = fc.array(
  fc.record({ name: fc.constantFrom('f', 'g'), input: fc.dictionary(fc.string(), fc.jsonValue()) }),
  { maxLength: 4 },
)
const completion = fc
  .record({ text: fc.option(word), thoughts: fc.option(word), signed: fc.boolean(), calls })
  .map(({ text, thoughts, signed, calls }): Completion => {
    const detail = {
      type: 'reasoning.text',
      format: 'anthropic-claude-v1',
      index: 0,
      text: thoughts,
      signature: 's',
    }
    return {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: text,
            ...(thoughts !== null && signed && { reasoning_details: [detail] }),
            ...(thoughts !== null && { reasoning_content: thoughts }),
            ...(calls.length > 0 && {
              tool_calls: calls.map(({ name, input }, i) => ({
                id: `call_${i}`,
                type: 'function' as const,
                function: { name, arguments: JSON.stringify(input) },
              })),
            }),
          },
          finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    }
  })

const chunk = (delta: Delta, rest: object = {}): Chunk =>
  Chunk.of({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...rest }] })
const tool = (index: number, json: string, opening: object = {}): Chunk =>
  chunk({
    tool_calls: [
      { index, ...opening, function: { ...('id' in opening && { name: `f${index}` }), arguments: json } },
    ],
  })

describe('a streamed answer', () => {
  it('in any pieces is the whole one, in an order that the wire allows', () => {
    fc.assert(
      fc.property(completion, fc.integer({ min: 1, max: 9 }), (body, length) => {
        expect(read(encoded(toChunks(body, length)))).toMatchObject(
          JSON.parse(JSON.stringify({ ...(messageOf(body) as object), stop_sequence: null })),
        )
      }),
    )
  })

  it('says at its start what the prompt may have been, and at its end what it was', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
    const events = encoded([chunk({ content: 'a' }), Chunk.of({ choices: [], usage })])
    expect(events[0]!.message!.usage).toMatchObject({ input_tokens: 2, output_tokens: 0 })
    expect(events.at(-2)).toMatchObject({
      type: 'message_delta',
      usage: { input_tokens: 5, output_tokens: 7 },
    })
  })

  it('of calls whose parts come mixed is put in order', () => {
    const order = fc.shuffledSubarray([0, 0, 0, 1, 1, 1, 2, 2, 2], { minLength: 9, maxLength: 9 })
    const parts = ['{"a', '":', '1}']
    fc.assert(
      fc.property(order, fc.boolean(), (turns, spoken) => {
        const come = [0, 0, 0]
        const chunks = turns.map((index) => {
          const n = come[index]!
          come[index]! += 1
          return tool(index, parts[n]!, n === 0 ? { id: `t${index}` } : {})
        })
        if (spoken) chunks.splice(4, 0, chunk({ content: 'aside' }))
        const { content } = read(encoded([...chunks, chunk({}, { finish_reason: 'tool_calls' })]))
        const used = content.filter(({ type }) => type === 'tool_use')
        expect(used.map(({ id }) => id).toSorted()).toEqual(['t0', 't1', 't2'])
        for (const { input } of used) expect(input).toEqual({ a: 1 })
      }),
    )
  })

  it('of a call whose name comes late, or never, is whole', () => {
    const late = [
      chunk({ tool_calls: [{ index: 0, id: 't', function: { arguments: '{"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: ':1}' } }] }),
    ]
    expect(read(encoded(late)).content).toEqual([{ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }])
    expect(read(encoded(late.slice(0, 1).map(() => tool(0, '{}')))).content).toMatchObject([
      { name: '', input: {} },
    ])
  })

  it('without anything in it is a message without content', () => {
    expect(read(encoded([])).content).toEqual([])
  })

  it('that fails ends with an error and with nothing that looks like an end', () => {
    const one = encoder()
    const text = one.chunks([chunk({ content: 'a' })]).toString() + one.fail(providerError('No.'), 'tr_1')
    const events = eventsOf(text)
    expect(events.at(-1)).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'No.' },
      request_id: 'tr_1',
    })
    expect(events.some(({ type }) => type === 'message_delta' || type === 'message_stop')).toBe(false)
  })
})

describe('a stream that passes', () => {
  const frame = (
    data: { type: string; [field: string]: unknown },
    meant: Delta = {},
    rest: object = {},
  ): Chunk => {
    const seen: CompletionChunk = {
      id: 'x',
      model: 'm',
      choices: [{ index: 0, delta: meant, finish_reason: null, ...rest }],
    }
    return Chunk.fromBytes(Buffer.from(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`), seen)
  }
  const text = (piece: string): Chunk =>
    frame(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } },
      { content: piece },
    )
  const json = (piece: string): Chunk =>
    frame(
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: piece } },
      { tool_calls: [{ index: 0, function: { arguments: piece } }] },
    )
  const use = { type: 'tool_use', id: 't', name: 'f', input: {} }
  const passing = [
    frame({ type: 'message_start', message: { id: 'x' } }, { role: 'assistant', content: '' }),
    frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    text('Hello '),
    text('world'),
    frame({ type: 'content_block_stop', index: 0 }),
    frame(
      { type: 'content_block_start', index: 1, content_block: use },
      { tool_calls: [{ index: 0, id: 't', function: { name: 'f', arguments: '' } }] },
    ),
    json('{"a"'),
    json(':1}'),
    frame({ type: 'content_block_stop', index: 1 }),
    frame(
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
      {},
      { finish_reason: 'tool_calls' },
    ),
    frame({ type: 'message_stop' }),
  ]

  it('keeps its bytes', () => {
    const one = encoder(true)
    const out = passing.map((piece) => one.chunks([piece]).toString()).join('') + one.end()
    expect(out).toBe(passing.map(({ raw }) => raw!.toString()).join(''))
  })

  it('goes on rightly from wherever a module changes it', () => {
    for (const at of passing.keys()) {
      const mixed = passing.map((piece, i) => (i === at ? Chunk.of(piece.data) : piece))
      expect(read(encoded(mixed, encoder(true)))).toMatchObject({
        content: [
          { type: 'text', text: 'Hello world' },
          { ...use, input: { a: 1 } },
        ],
        stop_reason: 'tool_use',
      })
    }
  })

  it('takes text that was held back past the end of its block into that block', () => {
    const held = [
      ...passing.slice(0, 3),
      passing[4]!,
      chunk({ content: 'world' }),
      chunk({}, { finish_reason: 'stop' }),
    ]
    expect(read(encoded(held, encoder(true))).content).toEqual([{ type: 'text', text: 'Hello world' }])
  })
})
