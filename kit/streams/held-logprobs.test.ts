import { expect, test } from 'vitest'
import { joinLogprobs } from '../canonical/logprobs.ts'
import { HeldLogprobs } from './held-logprobs.ts'

const at = (left: number, ...replaced: [start: number, end: number][]) => ({
  left,
  replaced: replaced.map(([start, end]) => ({ start, end })),
})

const of = (token: string) => ({ content: [{ token }] })

test('they leave with the last character of their text, and not before', () => {
  const held = new HeldLogprobs()
  const first = of('ab')
  held.add(0, 2, first)
  expect([held.take(at(0)), held.take(at(1))]).toEqual([undefined, undefined])
  expect(held.take(at(2))).toBe(first)
  expect(held.take(at(9))).toBeUndefined()
})

test('those of several parts leave as one, in order, and the others stay', () => {
  const held = new HeldLogprobs()
  for (const [n, token] of ['a', 'b', 'c'].entries()) held.add(n, n + 1, of(token))
  expect(held.take(at(2))).toEqual({ content: [{ token: 'a' }, { token: 'b' }] })
  expect(held.take(at(3))).toEqual(of('c'))
})

test.each([
  ['before', 2, 4, true],
  ['over the beginning of', 3, 5, false],
  ['inside', 5, 6, false],
  ['over', 3, 9, false],
  ['over the end of', 7, 9, false],
  ['behind', 8, 9, true],
])('they do not leave when something was replaced %s… their text: %i to %i', (_, start, end, leaves) => {
  const held = new HeldLogprobs()
  const own = of('text')
  held.add(4, 8, own)
  expect(held.take(at(20, [0, 1], [start, end], [15, 16]))).toBe(leaves ? own : undefined)
})

test('lists go on by their names, and what is no list is left out', () => {
  expect(joinLogprobs({ content: [1] }, { content: [2], refusal: [3], tokens: null, top: 7 })).toEqual({
    content: [1, 2],
    refusal: [3],
  })
  expect(joinLogprobs({ content: [1] }, null)).toEqual({ content: [1] })
})
