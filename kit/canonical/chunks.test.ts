import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { hasContent } from '../streams/has-content.ts'
import { Assembler } from './assemble.ts'
import { Chunk, finishChunk } from './chunk.ts'
import { toChunks } from './chunks.ts'
import type { Completion, CompletionChunk, Delta } from './forms.ts'

function assembled(chunks: readonly { readonly data: CompletionChunk }[]): Completion {
  const assembler = new Assembler()
  for (const { data } of chunks) assembler.add(data)
  return assembler.completion()
}

const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' ', '\n', '"'), maxLength: 200 })
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const usage = fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat(), total_tokens: fc.nat() })
const reason = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter')

const tool = fc.oneof(
  fc.record({
    id: fc.uuid(),
    type: fc.constant('function' as const),
    function: fc.record({ name: fc.constantFrom('send', 'look_up'), arguments: text }),
    extra: optional(fc.constant({ thought: 'x' })),
  }),
  fc.record({
    id: fc.uuid(),
    type: fc.constant('custom'),
    custom: fc.record({ name: fc.constant('shell'), input: text }),
  }),
)

const message = fc.record({
  role: fc.constant('assistant'),
  content: fc.option(text),
  refusal: optional(fc.option(text)),
  reasoning_content: optional(text),
  tool_calls: optional(fc.array(tool, { minLength: 1, maxLength: 3 })),
  function_call: optional(fc.record({ name: fc.constant('old'), arguments: text })),
  annotations: optional(
    fc.array(fc.record({ type: fc.constant('url_citation'), n: fc.nat() }), { maxLength: 3 }),
  ),
})

const tokens = fc.array(fc.record({ token: text, logprob: fc.constant(-1) }), { maxLength: 3 })
const logprobs = optional(fc.option(fc.record({ content: tokens })))

const head = { id: 'c1', created: 7, model: 'm', system_fingerprint: 'fp' }
const chat = fc.record({
  ...Object.fromEntries(Object.entries(head).map(([field, value]) => [field, fc.constant(value)])),
  object: fc.constant('chat.completion'),
  choices: fc
    .array(
      fc.record({ message, logprobs, finish_reason: reason, stop_reason: optional(fc.constant('###')) }),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((choices) => choices.map((choice, index) => ({ index, ...choice }))),
  usage: optional(usage),
})

const legacy = fc.record({
  id: fc.constant('cmpl'),
  object: fc.constant('text_completion'),
  choices: fc
    .array(fc.record({ text, logprobs, finish_reason: reason }), { minLength: 1, maxLength: 3 })
    .map((choices) => choices.map((choice, index) => ({ index, ...choice }))),
  usage: optional(usage),
})

/** As JSON has it: without what is undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('an answer in chunks', () => {
  test.each([
    ['chat', chat],
    ['legacy', legacy],
  ])('comes back whole when it is assembled: %s', (_, bodies) => {
    fc.assert(
      fc.property(bodies as fc.Arbitrary<Completion>, fc.integer({ min: 1, max: 100 }), (body, length) => {
        expect(plain(assembled(toChunks(body, length)))).toEqual(plain(body))
      }),
      runs(400),
    )
  })

  test('is the same whichever pieces its texts are in', () => {
    fc.assert(
      fc.property(chat as fc.Arbitrary<Completion>, (body) => {
        expect(plain(assembled(toChunks(body, 1)))).toEqual(plain(assembled(toChunks(body, 1000))))
      }),
    )
  })

  test('says who speaks first, and finishes each choice once, at its end', () => {
    fc.assert(
      fc.property(chat as fc.Arbitrary<Completion>, (body) => {
        for (const { index, finish_reason } of body.choices ?? []) {
          const own = toChunks(body).flatMap(({ data }) =>
            data.choices.filter((choice) => choice.index === index),
          )
          expect(own[0]?.delta?.role).toBe('assistant')
          expect(own.map((choice) => choice.finish_reason).filter(Boolean)).toEqual([finish_reason])
          expect(own.at(-1)?.finish_reason).toBe(finish_reason)
        }
      }),
    )
  })

  test('never ends in half a character', () => {
    const chunks = toChunks(
      { choices: [{ index: 0, message: { role: 'assistant', content: 'a😀😀b' }, finish_reason: null }] },
      1,
    )
    for (const { data } of chunks)
      for (const { delta } of data.choices) expect((delta?.content ?? '').isWellFormed()).toBe(true)
  })
})

describe('the assembler', () => {
  const deltas = (...parts: Delta[]): Completion =>
    assembled(
      parts.map((delta) => ({ data: { object: 'chat.completion.chunk', choices: [{ index: 0, delta }] } })),
    )

  test('joins what is nested: audio transcripts, reasoning details with their like, legacy calls', () => {
    const { choices } = deltas(
      { role: 'assistant', content: null, refusal: null },
      { audio: { id: 'a1', transcript: 'Hel' }, function_call: { name: 'f', arguments: '{' } },
      { audio: { transcript: 'lo', data: 'AA' }, function_call: { arguments: '}' } },
      { reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'I th' }] },
      { reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'ink' }] },
      { reasoning_details: [{ index: 1, type: 'reasoning.summary', summary: 'so' }] },
    )
    expect(choices?.[0]?.message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      audio: { id: 'a1', transcript: 'Hello', data: 'AA' },
      function_call: { name: 'f', arguments: '{}' },
      reasoning_details: [
        { index: 0, type: 'reasoning.text', text: 'I think' },
        { index: 1, type: 'reasoning.summary', summary: 'so' },
      ],
    })
  })

  test('takes id and model from the first chunk that has them', () => {
    const body = assembled([
      { data: { id: '', model: '', object: '', prompt_filter_results: [], choices: [] } },
      {
        data: {
          id: 'c1',
          model: 'm',
          object: 'chat.completion.chunk',
          choices: [{ index: 0, delta: { content: 'x' } }],
        },
      },
    ])
    expect(body).toMatchObject({ id: 'c1', model: 'm', object: 'chat.completion' })
  })

  test('can be asked in between, and changes nothing it was given or gave', () => {
    const assembler = new Assembler()
    const first = { tool_calls: [{ index: 0, id: 'x', function: { name: 'f', arguments: '{' } }] }
    const given = JSON.stringify(first)
    assembler.add({ choices: [{ index: 0, delta: first }] })
    const before = assembler.completion()
    const seen = JSON.stringify(before)
    assembler.add({
      choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: '}' } }] } }],
    })
    expect(JSON.stringify(before)).toBe(seen)
    expect(JSON.stringify(first)).toBe(given)
    expect(assembler.completion().choices?.[0]?.message?.tool_calls?.[0]?.function.arguments).toBe('{}')
  })
})

test('content is what a reader would see: text of any field, a call, a finish, and no role', () => {
  const has = (choice: object): boolean => hasContent({ choices: [{ index: 0, ...choice }] })
  expect(
    [{ delta: { content: 'x' } }, { delta: { tool_calls: [{ index: 0 }] } }, { text: 'x' }].map(has),
  ).toEqual([true, true, true])
  expect(has({ delta: {}, finish_reason: 'stop' })).toBe(true)
  expect(
    [{ delta: { role: 'assistant', content: '' } }, { delta: { content: null } }, { text: '' }].map(has),
  ).toEqual([false, false, false])
})

test('a finishing chunk is like the stream it ends', () => {
  const like = { id: 'c', object: 'text_completion', choices: [], usage: null }
  expect(finishChunk(like, [0, 2], 'length').data).toEqual({
    id: 'c',
    object: 'text_completion',
    choices: [
      { index: 0, text: '', finish_reason: 'length' },
      { index: 2, text: '', finish_reason: 'length' },
    ],
  })
})

test('a chunk that nobody reads is not parsed', () => {
  const chunk = Chunk.fromBytes(Buffer.from('data: {oops\n\n'))
  expect(chunk.seen).toBeUndefined()
  expect(() => chunk.data).toThrow('not JSON')
})

const dataOf = (body: Completion, length?: number) => toChunks(body, length).map(({ data }) => data)

test('a message is streamed as its role and fields, its thoughts, its texts, and what is no text', () => {
  const message = {
    role: 'assistant' as const,
    content: 'hi',
    refusal: null,
    audio: undefined,
    annotations: [{ n: 1 }],
    reasoning_details: [{ n: 2 }],
    reasoning_content: 'hm',
  }
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
  const chunks = dataOf({
    id: 'c',
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  })
  const head = { id: 'c', object: 'chat.completion.chunk' }
  expect(chunks.slice(0, -1)).toStrictEqual(
    [
      { role: 'assistant', content: '', refusal: null, reasoning_content: '' },
      { reasoning_details: [{ n: 2 }] },
      { reasoning_content: 'hm' },
      { content: 'hi' },
      { annotations: [{ n: 1 }] },
      {},
    ].map((delta, at, { length }) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason: at === length - 1 ? 'stop' : null }],
    })),
  )
  expect(chunks.at(-1)).toStrictEqual({ ...head, choices: [], usage })
})

test('what an answer leaves out is not made up', () => {
  expect(dataOf({ id: 'e' })).toEqual([])
  expect(dataOf({ object: 'text_completion', choices: [{ index: 0, finish_reason: 'stop' }] })).toStrictEqual(
    [{ object: 'text_completion', choices: [{ index: 0, text: '', finish_reason: 'stop' }] }],
  )
  expect(dataOf({ choices: [{ index: 0, finish_reason: 'stop' }] })[0]!.choices).toStrictEqual([
    { index: 0, delta: { role: 'assistant' }, finish_reason: null },
  ])
})

test.each([
  ['abcde', 2, ['ab', 'cd', 'e']],
  ['a\u{10000}b', 2, ['a\u{10000}', 'b']],
  ['a\u{10ffff}b', 2, ['a\u{10ffff}', 'b']],
  ['a\ue000b', 2, ['a\ue000', 'b']],
  ['a\u{10000}', 2, ['a\u{10000}']],
  ['ab\ud83d', 3, ['ab\ud83d']],
])('the text %j in pieces of %d is %j', (text, length, parts) => {
  const message = { role: 'assistant' as const, content: text }
  const chunks = dataOf({ choices: [{ index: 0, message, finish_reason: 'stop' }] }, length)
  expect(chunks.slice(1, -1).map(({ choices }) => choices[0]!.delta!.content)).toEqual(parts)
})
