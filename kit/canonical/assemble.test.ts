import { expect, test } from 'vitest'
import { Assembler } from './assemble.ts'
import type { CompletionChunk } from './forms.ts'

test('the padding of a single chunk is no part of the whole answer', () => {
  const assembler = new Assembler()
  assembler.add({
    id: 'a',
    object: 'chat.completion.chunk',
    obfuscation: 'xyz',
    choices: [{ index: 0, delta: { content: 'Hi' } }],
  })
  assembler.add({ id: 'a', object: 'chat.completion.chunk', obfuscation: 'x', choices: [] })
  expect(assembler.completion()).toEqual({
    id: 'a',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: null, message: { role: 'assistant', content: 'Hi' } }],
  })
})

/** The answer that these chunks make. */
function answerOf(chunks: readonly object[]) {
  const assembler = new Assembler()
  for (const chunk of chunks) assembler.add({ choices: [], ...chunk } as CompletionChunk)
  return assembler.completion() as unknown as { choices: { message?: object; logprobs?: unknown }[] }
}

const messageOf = (...deltas: object[]) =>
  answerOf(deltas.map((delta) => ({ choices: [{ index: 0, delta }] }))).choices[0]!.message

test('what is told of the whole answer is what was told first, and the usage what was told last', () => {
  const chunks = [
    { id: '', model: null, created: 0, usage: null },
    { id: 'a', model: 'm', created: 5, usage: { prompt_tokens: 1 } },
    { id: 'b', model: 'n', created: 6, usage: { prompt_tokens: 2 } },
  ]
  const whole = { object: 'chat.completion', choices: [] }
  expect(answerOf(chunks)).toEqual({ ...whole, id: 'a', model: 'm', created: 5, usage: { prompt_tokens: 2 } })
  expect(answerOf([{ id: 'a' }])).toEqual({ ...whole, id: 'a' })
  expect(answerOf([{ id: 'a', usage: null }])).toStrictEqual({ ...whole, id: 'a' })
  expect(answerOf([{ id: false }, { id: 'a' }])).toEqual({ ...whole, id: false })
})

test('choices and calls of tools are in the order of their indexes, however they came', () => {
  const call = (index: number) => ({
    index,
    id: `call_${index}`,
    function: { name: `f${index}`, arguments: '{}' },
  })
  const chunks = [2, 0, 1].map((index) => ({
    choices: [{ index, delta: { tool_calls: [call(2), call(0), call(1)] } }],
  }))
  const { choices } = answerOf(chunks) as unknown as {
    choices: { index: number; message: { tool_calls: { id: string }[] } }[]
  }
  expect(choices.map(({ index }) => index)).toEqual([0, 1, 2])
  for (const { message } of choices)
    expect(message.tool_calls.map(({ id }) => id)).toEqual(['call_0', 'call_1', 'call_2'])
})

test('a call of a tool that says little of itself is a whole one', () => {
  expect(messageOf({ tool_calls: [{ index: 0 }] })).toEqual({
    role: 'assistant',
    content: null,
    tool_calls: [{ id: '', type: 'function', function: { name: '', arguments: '' } }],
  })
  expect(messageOf({ tool_calls: [{ index: 0, type: 'custom', custom: { input: 'x' } }] })).toMatchObject({
    tool_calls: [{ id: '', type: 'custom', custom: { input: 'x' } }],
  })
})

test.each([
  ['role', 'assistant', 'assistant', 'assistant'],
  ['id', 'a', 'b', 'b'],
  ['type', 'a', 'a', 'a'],
  ['container_id', 'a', 'b', 'b'],
  ['expires_at', 'a', 'b', 'b'],
  ['id', 'a', '', 'a'],
  ['identity', 'a', 'b', 'ab'],
  ['paid', 'a', 'b', 'ab'],
  ['content', 'a', '', 'a'],
  ['content', 'a', null, 'a'],
  ['count', 1, 2, 2],
  ['count', 1, 'b', 'b'],
  ['count', 'a', 2, 2],
  ['odd', [1], 'b', 'b'],
  ['odd', { a: 'x' }, [1], [1]],
  ['map', { a: 'x', b: 'y' }, { a: 'z', c: 'w' }, { a: 'xz', b: 'y', c: 'w' }],
  ['none', undefined, null, null],
])('%s goes on from %j by %j to %j', (field, first, more, whole) => {
  const message = messageOf({ [field]: first }, { [field]: more }) as Record<string, unknown>
  expect(message[field]).toEqual(whole)
})

test('what is missing from the first part and the second is missing', () => {
  expect(messageOf({ a: undefined }, { a: undefined })).toEqual({ role: 'assistant', content: null })
})

test.each([
  ['of one index and kind', { index: 0, type: 'text', text: 'b' }, [{ index: 0, type: 'text', text: 'ab' }]],
  ['that does not repeat its kind', { index: 0, text: 'b' }, [{ index: 0, type: 'text', text: 'ab' }]],
  [
    'of another kind',
    { index: 0, type: 'image', text: 'b' },
    [
      { index: 0, type: 'text', text: 'a' },
      { index: 0, type: 'image', text: 'b' },
    ],
  ],
  [
    'of another index',
    { index: 1, type: 'text', text: 'b' },
    [
      { index: 0, type: 'text', text: 'a' },
      { index: 1, type: 'text', text: 'b' },
    ],
  ],
  [
    'without an index',
    { type: 'text', text: 'b' },
    [
      { index: 0, type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  ],
  ['that is no object', 'b', [{ index: 0, type: 'text', text: 'a' }, 'b']],
])('a part of a list %s goes on with its like', (_, part, whole) => {
  expect(messageOf({ content: [{ index: 0, type: 'text', text: 'a' }] }, { content: [part] })).toMatchObject({
    content: whole,
  })
})

test('parts without an index do not go on with each other', () => {
  const part = { type: 'text', text: 'a' }
  expect(messageOf({ content: [part] }, { content: [part] })).toMatchObject({ content: [part, part] })
})

test("what is added to is not the provider's own, nor is what the answer gives away", () => {
  const first = { map: { a: 'x' }, list: [{ index: 0, text: 'a' }] }
  const more = structuredClone(first)
  const assembler = new Assembler()
  for (const delta of [first, more])
    assembler.add({ choices: [{ index: 0, delta }] } as unknown as CompletionChunk)
  const early = assembler.completion()
  const kept = structuredClone(early)
  assembler.add({ choices: [{ index: 0, delta: more }] } as unknown as CompletionChunk)
  expect(early).toEqual(kept)
  expect(first).toEqual({ map: { a: 'x' }, list: [{ index: 0, text: 'a' }] })
})

test('log probabilities are null where they were said to be, until there are some', () => {
  const of = (...all: unknown[]) =>
    answerOf(all.map((logprobs) => ({ choices: [{ index: 0, delta: {}, logprobs }] }))).choices[0]
  expect(of(null)).toHaveProperty('logprobs', null)
  expect(of(undefined)).not.toHaveProperty('logprobs')
  expect(of({ content: [1] }, null, { content: [2] })).toHaveProperty('logprobs', { content: [1, 2] })
})

test('items of a list that are no objects stay as they came, beside those that are', () => {
  const lists = [[null], [{ index: 0, a: 'x' }], [{ index: 0, a: 'y' }], [null, 7], ['z'], [{ index: 0 }]]
  expect(messageOf(...lists.map((annotations) => ({ annotations })))).toMatchObject({
    annotations: [null, { index: 0, a: 'xy' }, null, 7, 'z', { index: 0 }],
  })
})
