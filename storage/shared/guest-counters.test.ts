import { expect, test } from 'vitest'
import type { Counters } from '../index.ts'
import { withEnds } from './ends-parts.ts'

test('what is counted, set and cleared in one turn crosses in its order', () =>
  withEnds(async (a, _, { engine }) => {
    const [own, theirs] = [await a.counters('use'), await engine.counters('use')]
    for (const name of ['b', 'ba', 'ab', 'a']) own.add(name, 1)
    own.add('a', 4)
    own.set('a', 1)
    own.add('a', 2)
    own.add('x', 5)
    own.clear('x')
    own.add('x', 2)
    own.add('gone', 1)
    own.clear('go')
    const all = [
      ['a', 3],
      ['ab', 1],
      ['b', 1],
      ['ba', 1],
      ['x', 2],
    ]
    expect(own.entries()).toEqual(all)
    await own.flush()
    expect(theirs.entries()).toEqual(all)
    expect(own.entries('a')).toEqual(all.slice(0, 2))
    own.clear('a')
    expect(own.entries()).toEqual(all.slice(2))
    await expect.poll(() => theirs.entries()).toEqual(all.slice(2))
    await a.close()
    expect(() => own.clear('')).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
  }))

const steps: Readonly<Record<string, (counters: Counters) => void>> = {
  add: (counters) => counters.add('x', 10),
  set: (counters) => counters.set('x', 3),
  delete: (counters) => counters.delete('x'),
  'delete of another': (counters) => counters.delete('xy'),
  clear: (counters) => counters.clear(''),
  'clear of another': (counters) => counters.clear('xy'),
  'several, of several': (counters) => {
    counters.add('x', 1)
    counters.add('xy', 2)
    counters.clear('x')
    counters.add('x', 2)
    counters.delete('x')
    counters.add('ax', 4)
    counters.set('xy', 8)
    counters.add('xy', 16)
  },
}
const pairs = Object.keys(steps).flatMap((one) => Object.keys(steps).map((other) => [one, other] as const))

test.each(pairs)('where one thread does %s and another %s before it hears of it, all agree', (one, other) =>
  withEnds(async (a, b, { engine }) => {
    const [own, theirs] = [await a.counters('use'), await b.counters('use')]
    const stored = await engine.counters('use')
    for (const name of ['x', 'xy', 'ax']) own.add(name, 100)
    await own.flush()
    await expect.poll(() => theirs.entries().length).toBe(3)
    steps[one]!(own)
    steps[other]!(theirs)
    await Promise.all([own.flush(), theirs.flush()])
    for (const counters of [own, theirs])
      await expect.poll(() => counters.entries()).toEqual(stored.entries())
  }),
)
