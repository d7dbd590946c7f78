import { expect, test } from 'vitest'
import { differences } from './differences.ts'

test('what is not asked for may be there', () => {
  expect(differences({ a: { b: 1 } }, { a: { b: 1, c: 2 }, d: 3 })).toEqual([])
})

test('each place that departs has a line with its path', () => {
  const seen = { a: [{ b: 2 }, { b: 1 }], c: 'y' }
  expect(differences({ a: [{ b: 1 }, { b: 1 }], c: 'x', d: null }, seen)).toEqual([
    'a[0].b: wanted 1, saw 2',
    'c: wanted "x", saw "y"',
    'd: wanted null, saw nothing',
  ])
})

test('arrays must be as long as wanted, and are no objects', () => {
  expect(differences({ a: [1] }, { a: [1, 2] })).toEqual(['a: wanted 1 items, saw 2: [1,2]'])
  expect(differences({ a: {} }, { a: [] })).toEqual(['a: wanted {}, saw []'])
})

test('a field wanted as undefined must be absent', () => {
  expect(differences({ error: undefined }, { error: 'x' })).toHaveLength(1)
  expect(differences({ error: undefined }, {})).toEqual([])
})
