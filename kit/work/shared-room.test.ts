import { expect, test } from 'vitest'
import { SharedRoom } from './shared-room.ts'

test('things take no more than their room together, small ones aside, whatever comes and goes', () => {
  const held = new Map<number, number>()
  const evicted: number[] = []
  const room = new SharedRoom<number>({
    most: 2000,
    free: 250,
    evict(thing) {
      evicted.push(thing)
      held.delete(thing)
    },
  })
  for (let n = 0; n < 5000; n++) {
    const thing = [...held.keys()][n % 7] ?? n
    if (n % 5 === 4) {
      room.leave(thing)
      held.delete(thing)
      continue
    }
    const size = (held.get(thing) ?? 0) + (n % 3) * 100 + 1
    held.set(thing, size)
    room.hold(thing, size)
    const counted = [...held.values()].filter((size) => size > 250)
    expect(counted.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(2000)
  }
  expect(evicted.length).toBeGreaterThan(100)
})

test('the one that was counted first gives way, and as many as it takes', () => {
  const evicted: string[] = []
  const room = new SharedRoom<string>({ most: 100, free: 10, evict: (thing) => evicted.push(thing) })
  room.hold('a', 40)
  room.hold('b', 30)
  room.hold('small', 10)
  room.hold('a', 50)
  room.hold('c', 80)
  expect(evicted).toEqual(['a', 'b'])
  room.leave('c')
  room.hold('d', 100)
  room.hold('d', 101)
  expect(evicted).toEqual(['a', 'b', 'd'])
})
