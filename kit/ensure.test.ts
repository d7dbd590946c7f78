import { expect, test } from 'vitest'
import { ensure } from './ensure.ts'

test('a value is made once for each key, and the one made longest ago makes room', () => {
  const map = new Map<string, { readonly n: number }>()
  let n = 0
  const get = (key: string) => ensure(map, key, () => ({ n: ++n }), 2).n
  expect(['a', 'b', 'a', 'c', 'b', 'a'].map(get)).toEqual([1, 2, 1, 3, 2, 4])
  expect([...map.keys()]).toEqual(['c', 'a'])
})

test('without a bound nothing goes', () => {
  const map = new Map<number, number>()
  for (let n = 0; n < 5000; n += 1) ensure(map, n, () => n)
  expect(map.size).toBe(5000)
})
