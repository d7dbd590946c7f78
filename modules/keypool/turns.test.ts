import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Credential } from '#kernel'
import { newTurns, takeTurns } from './turns.ts'

const key = (id: string, weight = 1): Credential => ({
  id,
  weight,
  secret: `sk-${id}`,
  hint: id,
  owner: 'global',
})

/** How often each key came first in so many calls. */
function count(keys: readonly Credential[], calls: number, turns = newTurns()): Record<string, number> {
  const first: Record<string, number> = Object.fromEntries(keys.map(({ id }) => [id, 0]))
  for (let n = 0; n < calls; n += 1) first[takeTurns(keys, turns)[0]!.id]! += 1
  return first
}

test('keys of the same weight take turns', () => {
  expect(count([key('a'), key('b'), key('c')], 99)).toEqual({ a: 33, b: 33, c: 33 })
})

test('every key is listed, each once', () => {
  const ids = takeTurns([key('a'), key('b', 5), key('c', 0)], newTurns()).map(({ id }) => id)
  expect(ids.toSorted()).toEqual(['a', 'b', 'c'])
})

test('a key of weight 0 comes last, and first when there is no other', () => {
  expect(count([key('none', 0), key('a')], 50)).toEqual({ none: 0, a: 50 })
  expect(takeTurns([key('none', 0)], newTurns())).toEqual([key('none', 0)])
})

test('a key that was away takes its turns from now on, and not those it missed', () => {
  const turns = newTurns()
  const both = [key('a'), key('b')]
  count(both, 10, turns)
  count([key('a')].concat(key('c')), 1000, turns)
  const after = count(both, 10, turns)
  expect(Math.abs(after.a! - after.b!)).toBeLessThanOrEqual(1)
})

test('whatever the weights, over any stretch each key gets its share to within one call of each other key', () => {
  const weights = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 2, maxLength: 6 })
  fc.assert(
    fc.property(weights, fc.integer({ min: 1, max: 500 }), (weights, calls) => {
      const keys = weights.map((weight, i) => key(`k${i}`, weight))
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      const first = count(keys, calls)
      for (const { id, weight } of keys) {
        expect(Math.abs(first[id]! - (calls * weight) / total)).toBeLessThanOrEqual(keys.length)
      }
    }),
  )
})
