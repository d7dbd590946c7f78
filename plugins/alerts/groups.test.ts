import { expect, test } from 'vitest'
import { Groups, mostWindows } from './groups.ts'
import { metricOf } from './metrics.ts'

const windowMs = 60_000
const groups = (room = { windows: 0 }) => new Groups(metricOf('request_rate'), windowMs, room)

test('of 100,000 groups a rule keeps the newest, and those that fire', () => {
  const room = { windows: 0 }
  const all = groups(room)
  all.add('first', 0, 1, 1000, false)
  all.hold('first', 0)
  for (let n = 1; n < 100_000; n += 1) all.add(`group ${n}`, n, 1, 1000, false)
  expect([all.size, room.windows, all.dropped]).toEqual([1000, 1000, 99_000])
  expect(all.read('group 99999', 99_999)?.samples).toBe(1)
  expect(all.read('first', 99_999)?.samples).toBe(0)
  expect(all.read('group 1', 99_999)).toBeUndefined()
  all.clear()
  expect(room.windows).toBe(0)
})

test('a rule has room for one group when others have taken it all', () => {
  const all = groups({ windows: mostWindows })
  all.add('a', 0, 1, 1000, false)
  all.add('b', windowMs, 1, 1000, false)
  expect(all.names()).toEqual(['b'])
})

test('of the past, which comes newest first, the oldest groups find no room', () => {
  const all = groups()
  for (let n = 5; n > 0; n -= 1) all.add(`group ${n}`, n * windowMs, 1, 3, true)
  all.sort()
  expect(all.names()).toEqual(['group 3', 'group 4', 'group 5'])
})
