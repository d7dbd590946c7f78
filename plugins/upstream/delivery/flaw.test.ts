import { describe, expect, test } from 'vitest'
import type { Operation } from '#kernel'
import { callWith } from '../../../test/chain.ts'
import { flawOf } from './flaw.ts'

const flaw = (body: unknown, operation: Operation = 'chat', request: object = {}): string | undefined =>
  flawOf(body, callWith(request, { operation }))

/** What no provider may pass for an object. */
const noObjects = [undefined, null, 7, 'text', true, [{}]]

test.each(noObjects)('%j is no answer', (body) => {
  for (const operation of ['chat', 'completion', 'embedding'] as const)
    expect(flaw(body, operation)).toBe('answered with JSON that is not an object')
})

describe('a chat', () => {
  const saying = (...messages: unknown[]) => ({ choices: messages.map((message) => ({ message })) })

  test.each([
    [{}],
    [{ content: null }],
    [{ content: '' }],
    [{ content: 'Hello' }],
    [{ content: [] }],
    [{ content: [{ type: 'text', text: 'Hello' }] }],
    [{ content: null, tool_calls: null }],
    [{ tool_calls: [] }],
    [{ content: 'Wait.', tool_calls: [{ id: 'call_1' }, { id: 'call_2' }] }],
  ])('may answer with %j', (message) => {
    expect(flaw(saying(message))).toBeUndefined()
    expect(flaw(saying({ content: 'Hello' }, message))).toBeUndefined()
  })

  const noMessages: readonly unknown[] = [
    ...noObjects,
    { content: 7 },
    { content: {} },
    { content: true },
    { content: ['text'] },
    { content: [{ type: 'text' }, null] },
    { tool_calls: {} },
    { tool_calls: 'none' },
    { content: null, tool_calls: [{ id: 'call_1' }, 7] },
  ]

  test.each(noMessages.map((one) => [one] as const))(
    'may not answer with %j, nor one of its choices',
    (message) => {
      const what = 'answered with a choice without a message'
      expect(flaw(saying(message))).toBe(what)
      expect(flaw(saying({ content: 'Hello' }, message))).toBe(what)
      expect(flaw(saying(message, { content: 'Hello' }))).toBe(what)
    },
  )

  test.each([{}, { choices: [] }, { choices: null }, { choices: { message: {} } }])(
    'may not answer without a choice, as in %j',
    (body) => {
      expect(flaw(body)).toBe('answered without a choice')
    },
  )

  test.each(noObjects)('may not answer with %j as a choice', (choice) => {
    expect(flaw({ choices: [choice] })).toBe('answered with a choice without a message')
  })
})

describe('a completion', () => {
  test('answers with texts, empty ones too', () => {
    expect(flaw({ choices: [{ text: '' }, { text: 'on' }] }, 'completion')).toBeUndefined()
  })

  test.each([[{ message: { content: 'Hello' } }], [{ text: null }], [null]])(
    'may not answer with %j',
    (choice) => {
      const what = 'answered with a choice without a text'
      expect(flaw({ choices: [choice] }, 'completion')).toBe(what)
      expect(flaw({ choices: [{ text: 'on' }, choice] }, 'completion')).toBe(what)
    },
  )
})

describe('an embedding', () => {
  const vectors = (...data: unknown[]) => ({ data: data.map((embedding) => ({ embedding })) })

  test.each([
    ['a text', 'one', 1],
    ['texts', ['one', 'two'], 2],
    ['a text as tokens', [1, 2, 3], 1],
    ['texts as tokens', [[1, 2], [3]], 2],
    ['what is not said', undefined, 1],
  ])('answers with a vector for each: %s', (_, input, wanted) => {
    const data = Array.from({ length: wanted }, (_, n) => (n % 2 === 0 ? [0.1] : 'AAAA'))
    expect(flaw(vectors(...data), 'embedding', { input })).toBeUndefined()
    const of = `embeddings for ${wanted} texts`
    expect(flaw(vectors(...data, [1]), 'embedding', { input })).toBe(`gave ${wanted + 1} ${of}`)
    expect(flaw(vectors(...data.slice(1)), 'embedding', { input })).toBe(`gave ${wanted - 1} ${of}`)
  })

  test.each([undefined, null, {}, 'AAAA'])('may not answer with %j in the place of a list', (data) => {
    expect(flaw({ data }, 'embedding', { input: 'one' })).toBe('answered with embeddings that are none')
  })

  const noVectors: readonly unknown[] = [...noObjects, {}, { embedding: 7 }, { embedding: {} }]

  test.each(noVectors.map((one) => [one] as const))('may not be %j, nor one of them', (one) => {
    const input = ['one', 'two']
    for (const data of [
      [one, { embedding: [1] }],
      [{ embedding: [1] }, one],
    ])
      expect(flaw({ data }, 'embedding', { input })).toBe('answered with embeddings that are none')
  })
})
