import { expect, test } from 'vitest'
import { inOrder } from './targets.ts'

test('without weights the order is the one written down, each target once', () => {
  const chain = [{ model: 'a/x' }, { model: 'b/x' }, { model: 'a/x' }]
  expect(inOrder(chain, 'x', () => 0.9)).toEqual(['a/x', 'b/x'])
})

test('a star is the model that was asked for', () => {
  expect(inOrder([{ model: 'a/*' }, { model: 'b/y' }], 'org/x', Math.random)).toEqual(['a/org/x', 'b/y'])
})

test('with weights each target comes first as often as its weight says', () => {
  const chain = [{ model: 'a', weight: 3 }, { model: 'b', weight: 1 }, { model: 'c' }]
  const first = new Map<string, number>()
  for (let n = 0; n < 20_000; n += 1) {
    const order = inOrder(chain, 'x', Math.random)
    expect(order.toSorted()).toEqual(['a', 'b', 'c'])
    first.set(order[0]!, (first.get(order[0]!) ?? 0) + 1)
  }
  expect(first.get('a')! / 20_000).toBeCloseTo(0.6, 1)
  expect(first.get('b')! / 20_000).toBeCloseTo(0.2, 1)
  expect(first.get('c')! / 20_000).toBeCloseTo(0.2, 1)
})
