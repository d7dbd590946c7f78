import { expect, test } from 'vitest'
import { ShortLived } from './short-lived.ts'

test('what is taken out is given once, and leaves the rest as it was', () => {
  const things = new ShortLived<string, object>()
  const [first, second, third] = [{}, {}, {}]
  things.set('a', first)
  things.set('b', second)
  things.set('a', third)
  expect([things.get('a'), things.get('c'), things.size]).toEqual([third, undefined, 2])
  expect(things.take('a')).toBe(third)
  expect([things.take('a'), things.get('a'), things.size]).toEqual([undefined, undefined, 1])
  expect(things.takeAll()).toEqual([second])
  expect(things.size).toBe(0)
})
