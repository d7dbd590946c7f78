import fc from 'fast-check'
import { expect, test } from 'vitest'
import { vectorsOf } from '#kit'
import { answerWith, noTokens, shareOf } from './embeddings.ts'

const embedding = (index: number) => ({ object: 'embedding', index, embedding: [index] })

test('vectors are in the order of the inputs, whatever the order of the answer', () => {
  const places = fc
    .nat(8)
    .chain((count) => fc.shuffledSubarray([...Array(count).keys()], { minLength: count }))
  fc.assert(
    fc.property(places, (order) => {
      const vectors = vectorsOf({ data: order.map(embedding) }, order.length)
      expect(vectors).toEqual(Array.from(order, (_, index) => [index]))
      expect(vectorsOf(answerWith({}, vectors!, noTokens), order.length)).toEqual(vectors)
    }),
  )
})

test.each([
  ['too few', [embedding(0)]],
  ['too many', [0, 1, 2].map(embedding)],
  ['one twice', [embedding(0), embedding(0)]],
  ['one without a vector', [embedding(0), { index: 1 }]],
  ['one that is nothing', [embedding(0), null]],
])('an answer with %s has none', (_, data) => {
  expect(vectorsOf({ data }, 2)).toBeUndefined()
})

test('the tokens of a batch are shared out by length', () => {
  expect(shareOf({ prompt_tokens: 30, total_tokens: 30 }, 10, 20)).toEqual({
    prompt_tokens: 15,
    total_tokens: 15,
  })
  expect(shareOf(null, 0, 0)).toEqual(noTokens)
})
