import fc from 'fast-check'
import type OpenAI from 'openai'
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator'
import { describe, expect, it } from 'vitest'
import { Chunk, type Completion, type CompletionChunk, type Delta, providerError, rateLimited } from '#kernel'
import { toChunks } from '#kit'
import { runs } from '../../../../test/suite/runs.ts'
import { responseOf } from './answer.ts'
import type { Asked, Response } from './asked.ts'
import { ResponsesEncoder } from './encoder.ts'
import type { Item } from './schema.ts'
import { opened } from './state.ts'
import type { Origin } from './toolbox.ts'

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly response?: Response
  readonly output_index?: number
  readonly item_id?: string
  readonly item?: Item
  readonly [field: string]: unknown
}

const id = 'resp_01JZZZZZZZZZZZZZZZZZZZZZZZ'
const asked: Asked = {
  id,
  createdAt: 0,
  model: 'm',
  repeated: { tools: [] },
  places: { messages: [], tools: [] },
  toolbox: new Map<string, Origin>([
    ['patch', { kind: 'custom', name: 'patch' }],
    ['tool_search', { kind: 'search', name: 'tool_search' }],
    ['crm__f', { kind: 'function', name: 'f', namespace: 'crm' }],
    ['crm__patch', { kind: 'custom', name: 'patch', namespace: 'crm' }],
  ]),
  keep: undefined,
}

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

function encoded(chunks: readonly Chunk[]): Event[] {
  const one = new ResponsesEncoder(asked)
  const text = chunks.map((chunk) => one.chunks([chunk])).join('')
  return eventsOf(text + one.end())
}

/** What brings and ends each kind of text, and where it stands. */
const texts: Readonly<Record<string, { list?: string; index?: string; part?: string; field: string }>> = {
  'response.output_text': {
    list: 'content',
    index: 'content_index',
    part: 'response.content_part',
    field: 'text',
  },
  'response.refusal': {
    list: 'content',
    index: 'content_index',
    part: 'response.content_part',
    field: 'refusal',
  },
  'response.reasoning_summary_text': {
    list: 'summary',
    index: 'summary_index',
    part: 'response.reasoning_summary_part',
    field: 'text',
  },
  'response.function_call_arguments': { field: 'arguments' },
  'response.custom_tool_call_input': { field: 'input' },
}

/** Reads events as strictly as the wire allows them: one item, and in it one part, at a time. Gives the items. */
function read(events: readonly Event[]): Item[] {
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress'])
  const items: Item[] = []
  let open:
    | { item: Item; parts: number; part: { index: number; done: boolean } | undefined; text: string }
    | undefined
  let added = 0
  for (const event of events.slice(2, -1)) {
    const { type, output_index: at } = event
    const [, name = '', verb] = /^(.*)\.(added|delta|done)$/.exec(type) ?? []
    if (name === 'response.output_item' && verb === 'added') {
      expect({ open, at }).toEqual({ open: undefined, at: added })
      open = { item: event.item!, parts: 0, part: undefined, text: '' }
      added += 1
      continue
    }
    expect(at).toBe(added - 1)
    if (name === 'response.output_item') {
      expect(open!.part?.done ?? true).toBe(true)
      expect(event.item!.id).toBe(open!.item.id)
      items.push(event.item!)
      open = undefined
      continue
    }
    expect(event.item_id).toBe(open!.item.id)
    if (name === 'response.content_part' || name === 'response.reasoning_summary_part') {
      const index = event.content_index ?? event.summary_index
      if (verb === 'added') {
        expect({ index, done: open!.part?.done ?? true }).toEqual({ index: open!.parts, done: true })
        open!.part = { index: index as number, done: false }
        open!.parts += 1
        open!.text = ''
      } else {
        expect(open!.part).toEqual({ index, done: false })
        open!.part!.done = true
      }
    } else if (name !== 'response.output_text.annotation') {
      const { index, field } = texts[name]!
      if (index) expect({ index: event[index], done: false }).toEqual(open!.part)
      if (verb === 'delta') open!.text += event.delta
      else expect(event[field]).toBe(open!.text)
    }
  }
  expect(open).toBeUndefined()
  const { type, response } = events.at(-1)!
  expect(type).toBe(`response.${response!.status}`)
  expect(response!.output).toEqual(items)
  return items
}

/** What the official library makes of the events before the last, which brings the whole response itself. */
function assembled(events: readonly Event[]): unknown {
  let response: OpenAI.Responses.Response | undefined
  for (const event of events.slice(0, -1))
    response = accumulateResponse(event as unknown as OpenAI.Responses.ResponseStreamEvent, response)
  return response!.output
}

const plainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const word = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
const calls = fc.array(
  fc.record({
    name: fc.constantFrom('f', 'g', ...asked.toolbox.keys()),
    input: fc.dictionary(fc.oneof(fc.string(), fc.constant('input')), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 3,
    }),
  }),
  { maxLength: 3 },
)
const citation = {
  type: 'url_citation',
  url_citation: { url: 'u', title: 't', start_index: 0, end_index: 1 },
}

const completion = fc
  .record({
    text: fc.option(word),
    refusal: fc.option(word),
    thoughts: fc.option(word),
    signed: fc.boolean(),
    cited: fc.boolean(),
    calls,
    reason: fc.constantFrom('stop' as const, 'length' as const, 'content_filter' as const),
  })
  .map(({ text, refusal, thoughts, signed, cited, calls, reason }): Completion => {
    const detail = { type: 'reasoning.text', index: 0, text: thoughts, signature: 's' }
    const message = {
      role: 'assistant' as const,
      content: text,
      ...(thoughts !== null && signed && { reasoning_details: [detail] }),
      ...(thoughts !== null && { reasoning_content: thoughts }),
      refusal,
      ...(cited && { annotations: [citation] }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ name, input }, i) => ({
          id: `call_${i}`,
          type: 'function' as const,
          function: { name, arguments: JSON.stringify(input) },
          ...(i === 0 && { extra_content: { google: { thought_signature: 'g' } } }),
        })),
      }),
    }
    return {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'n',
      choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : reason }],
      usage: { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 },
    }
  })

const callDelta = fc
  .record({
    index: fc.nat(2),
    id: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    function: fc.option(
      fc.record(
        {
          name: fc.constantFrom('f', '', ...asked.toolbox.keys()),
          arguments: fc.constantFrom('', '{', '"a":', '"input":"', '1', '"', '}', '{}'),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
    custom: fc.option(fc.record({ name: fc.constant('c'), input: word }, { requiredKeys: [] }), {
      nil: undefined,
    }),
  })
  .map((call) => plainJson(call))

const delta = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.option(fc.oneof(word, fc.constant(''), fc.constant([{ type: 'text', text: 'part' }]))),
    refusal: fc.option(word),
    reasoning_content: fc.option(word),
    reasoning: fc.option(word),
    reasoning_details: fc.array(
      fc.record(
        {
          type: fc.constantFrom('reasoning.text', 'reasoning.encrypted'),
          index: fc.nat(2),
          text: word,
          signature: word,
        },
        { requiredKeys: ['type'] },
      ),
      { maxLength: 2 },
    ),
    vendor_blocks: fc.constant([{ type: 'x', index: 1 }]),
    annotations: fc.constant([citation]),
    tool_calls: fc.array(callDelta, { maxLength: 2 }),
  },
  { requiredKeys: [] },
)

const choice = fc.record(
  {
    index: fc.constantFrom(0, 0, 0, 1),
    delta,
    text: word,
    logprobs: fc.option(fc.constant({ content: [{ token: 't', logprob: -1 }] })),
    finish_reason: fc.option(fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter')),
  },
  { requiredKeys: ['index'] },
)

const anyChunk = fc
  .record(
    {
      choices: fc.array(choice, { maxLength: 2 }),
      model: fc.constantFrom('', 'n'),
      usage: fc.constant({ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }),
    },
    { requiredKeys: ['choices'] },
  )
  .map((data) => Chunk.of(data as CompletionChunk))

const chunk = (delta: Delta, rest: object = {}): Chunk =>
  Chunk.of({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: null, ...rest }] })
const tool = (index: number, json: string, opening: object = {}): Chunk =>
  chunk({
    tool_calls: [
      {
        index,
        ...opening,
        function: { ...('id' in opening && { name: `f${index}`, ...opening }), arguments: json },
      },
    ],
  })

describe('a streamed response', () => {
  it('is legal for any chunks whatever, and the client’s library builds from it what its end says', () => {
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 12 }), (chunks) => {
        const events = encoded(chunks)
        expect(assembled(events)).toEqual(read(events))
      }),
      runs(200),
    )
  })

  it('is the same for every way of batching its chunks', () => {
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 12 }), fc.nat(12), (chunks, cut) => {
        const one = new ResponsesEncoder(asked)
        const text = one.chunks(chunks.slice(0, cut)) + one.chunks(chunks.slice(cut)) + one.end()
        expect(eventsOf(text).map(timeless)).toEqual(encoded(chunks).map(timeless))
      }),
    )
  })

  it('in any pieces is the whole one', () => {
    fc.assert(
      fc.property(completion, fc.integer({ min: 1, max: 9 }), (body, length) => {
        const events = encoded(toChunks(body, length))
        read(events)
        expect(timeless(events.at(-1)!).response).toEqual(
          plainJson(timeless({ response: responseOf(body, asked) }).response),
        )
        expect(assembled(events)).toEqual(plainJson(responseOf(body, asked).output))
      }),
    )
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
        const used = read(encoded(chunks)).filter(({ type }) => type === 'function_call')
        expect(used.map(({ call_id }) => call_id).toSorted()).toEqual(['t0', 't1', 't2'])
        for (const { arguments: json } of used) expect(json).toBe('{"a":1}')
      }),
    )
  })

  it('of a function that stands for a tool of free text has that text, in whatever pieces and wherever it is cut off', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.nat(),
        fc.nat(),
        fc.boolean(),
        (input, a, b, isWhole) => {
          const json = JSON.stringify({ input })
          const end = isWhole ? json.length : 10 + (b % (json.length - 10))
          const at = a % end
          const items = read(
            encoded([
              tool(0, '', { id: 't', name: 'crm__patch' }),
              tool(0, json.slice(0, at)),
              tool(1, '{}', { id: 'u' }),
              tool(0, json.slice(at, end)),
            ]),
          )
          expect(items).toMatchObject([
            { type: 'custom_tool_call', call_id: 't', name: 'patch', namespace: 'crm' },
            { type: 'function_call', call_id: 'u', name: 'f1', arguments: '{}' },
          ])
          if (isWhole) expect(items[0]!.input).toBe(input)
          else expect(typeof items[0]!.input).toBe('string')
        },
      ),
    )
  })

  it('of a function that stands for another kind of tool is a call of that', () => {
    const items = read(
      encoded([
        tool(0, '*** Begin', { id: 'a', name: 'patch' }),
        tool(1, '{"query":"x"}', { id: 'b', name: 'tool_search' }),
        tool(2, '{"a":1}', { id: 'c', name: 'crm__f' }),
        chunk({ tool_calls: [{ index: 3, id: 'd', custom: { name: 'crm__patch', input: 'p' } }] }),
      ]),
    )
    expect(items).toMatchObject([
      { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: '*** Begin' },
      { type: 'tool_search_call', call_id: 'b', execution: 'client', arguments: { query: 'x' } },
      { type: 'function_call', call_id: 'c', name: 'f', namespace: 'crm', arguments: '{"a":1}' },
      { type: 'custom_tool_call', call_id: 'd', name: 'patch', namespace: 'crm', input: 'p' },
    ])
  })

  it('of a call whose name comes late, or never, is whole', () => {
    const late = [
      chunk({ tool_calls: [{ index: 0, id: 't', function: { arguments: '{"a"' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: ':1}' } }] }),
    ]
    expect(read(encoded(late))).toMatchObject([{ call_id: 't', name: 'f', arguments: '{"a":1}' }])
    expect(read(encoded(late.slice(0, 1)))).toMatchObject([{ call_id: 't', name: '', arguments: '{"a"' }])
  })

  it('of calls that a provider gave the same id, or none, has ids of their own', () => {
    const items = read(
      encoded([tool(0, '{}', { id: 't' }), tool(1, '{}', { id: 't' }), tool(2, '{}', { id: '' })]),
    )
    expect(items.map(({ call_id }) => call_id)).toEqual([
      't',
      expect.stringMatching(/^call_\w+_1$/),
      expect.stringMatching(/^call_\w+_2$/),
    ])
  })

  it('seals reasoning with its signature, whatever the pieces in which they came', () => {
    const detail = (part: object) =>
      chunk({
        reasoning_details: [{ type: 'reasoning.text', index: 0, ...part }],
        reasoning_content: 'once more',
      })
    const [item] = read(
      encoded([detail({ text: 'So ' }), detail({ text: 'be it.' }), detail({ signature: 's' })]),
    )
    expect(item).toMatchObject({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'So be it.' }] })
    expect(opened(item!.encrypted_content as string)?.message).toEqual({
      reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'So be it.', signature: 's' }],
    })
  })

  it('without anything in it is complete, and empty', () => {
    expect(read(encoded([]))).toEqual([])
  })

  it('that fails ends with the error and the response that failed, whenever it fails', () => {
    fc.assert(
      fc.property(fc.array(anyChunk, { maxLength: 6 }), (chunks) => {
        const one = new ResponsesEncoder(asked)
        const text =
          chunks.map((part) => one.chunks([part])).join('') + one.fail(providerError('No.'), 'tr_1')
        const events = eventsOf(text)
        expect(events.map(({ sequence_number }) => sequence_number)).toEqual([...events.keys()])
        expect(events[0]!.type).toBe('response.created')
        expect(events.at(-2)).toMatchObject({
          type: 'error',
          message: 'No.',
          error: { message: 'No.', request_id: 'tr_1' },
        })
        expect(events.at(-1)).toMatchObject({
          type: 'response.failed',
          response: { status: 'failed', error: { code: 'server_error', message: 'No.' } },
        })
        expect(events.at(-1)!.response!.output.some(({ status }) => status === 'in_progress')).toBe(false)
        const ends = ['response.completed', 'response.incomplete']
        expect(events.some(({ type }) => ends.includes(type))).toBe(false)
      }),
    )
    expect(new ResponsesEncoder(asked).fail(rateLimited('Wait.'), 'tr_1')).toContain('rate_limit_exceeded')
  })
})

/** Without the one field that is the clock's. */
function timeless<T extends { readonly response?: Response }>(event: T): T {
  if (!event.response) return event
  const { completed_at: _, ...response } = event.response
  return { ...event, response }
}
