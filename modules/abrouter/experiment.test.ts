import { expect, test } from 'vitest'
import type { Call } from '#kernel'
import { type Experiment, experimentSchema, variantOf } from './experiment.ts'

const callOf = (userId: string, sessionId?: string, id = 'call_1') =>
  ({ id, principal: { userId, keyId: 'key_1' }, context: { sessionId } }) as unknown as Call

const experimentOf = (weights: Readonly<Record<string, number>>, sticky = 'user'): Experiment =>
  experimentSchema.parse({
    models: ['*'],
    sticky,
    variants: Object.fromEntries(Object.entries(weights).map(([name, weight]) => [name, { weight }])),
  })

const users = Array.from({ length: 10_000 }, (_, n) => `usr_${n}`)

function sharesOf(experiment: Experiment): Map<string, number> {
  const counts = new Map<string, number>()
  for (const user of users) {
    const name = variantOf('e', experiment, callOf(user))
    counts.set(name, (counts.get(name) ?? 0) + 1 / users.length)
  }
  return counts
}

test('10,000 users are split within 1 % of the weights, each always the same', () => {
  const experiment = experimentOf({ a: 70, b: 20, c: 10 })
  const shares = sharesOf(experiment)
  for (const [name, share] of [
    ['a', 0.7],
    ['b', 0.2],
    ['c', 0.1],
  ] as const)
    expect(Math.abs(shares.get(name)! - share)).toBeLessThan(0.01)
  for (const user of users.slice(0, 100)) {
    const of = (session: string, id: string) => variantOf('e', experiment, callOf(user, session, id))
    expect(of('s1', 'call_1')).toBe(of('s2', 'call_2'))
  }
})

test('a changed weight moves only as many users as it must, and none between the others', () => {
  const [before, after] = [experimentOf({ a: 50, b: 30, c: 20 }), experimentOf({ a: 50, b: 30, c: 40 })]
  const moves = users.map((user) => [
    variantOf('e', before, callOf(user)),
    variantOf('e', after, callOf(user)),
  ])
  const moved = moves.filter(([from, to]) => from !== to)
  expect(moved.every(([, to]) => to === 'c')).toBe(true)
  expect(moved.length / users.length).toBeCloseTo(40 / 120 - 0.2, 1)
})

test('sessions and calls are drawn by themselves, and experiments do not follow each other', () => {
  const even = { a: 1, b: 1 }
  const many = Array.from({ length: 200 }, (_, n) => n)
  const bySession = many.map((n) => variantOf('e', experimentOf(even, 'session'), callOf('usr_1', `s${n}`)))
  const byCall = many.map((n) =>
    variantOf('e', experimentOf(even, 'call'), callOf('usr_1', 's', `call_${n}`)),
  )
  expect([new Set(bySession).size, new Set(byCall).size]).toEqual([2, 2])
  const same = users.filter(
    (user) =>
      variantOf('e', experimentOf(even), callOf(user)) === variantOf('f', experimentOf(even), callOf(user)),
  )
  expect(same.length / users.length).toBeCloseTo(0.5, 1)
})
