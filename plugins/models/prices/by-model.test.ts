import { expect, test } from 'vitest'
import { ByModel } from './by-model.ts'

test('tells models of the same name at two providers apart, and forgets all when it is full', () => {
  const known = new ByModel<number>(3)
  known.set('a', 'm', 1)
  known.set('b', 'm', 2)
  known.set('b', 'm', 3)
  known.set('b', 'n', 4)
  expect([known.get('a', 'm'), known.get('b', 'm'), known.get('b', 'n')]).toEqual([1, 3, 4])
  expect([known.get('a', 'n'), known.get('c', 'm')]).toEqual([undefined, undefined])
  known.set('c', 'm', 5)
  expect([known.get('a', 'm'), known.get('b', 'm'), known.get('c', 'm')]).toEqual([undefined, undefined, 5])
})
