import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptyWindows, windowsIn } from '../../plugins/counting/windows.ts'
import { callWith } from '../../test/chain.ts'
import { atLeast } from './binomial.ts'
import { Judge } from './judge.ts'
import { type Rollout, rolloutSchema } from './rollout.ts'
import { placeOf } from './share.ts'

const rollout = (more: object = {}): Rollout =>
  rolloutSchema.parse({ model: 'old', target: 'new', max_error_rate: 0.02, max_latency_ratio: 1.5, ...more })

/** A judge whose clock advances by hand, and numbers that look random and are the same each time. */
function begin(seed: number, more: object = {}) {
  const clock = { now: 0 }
  const options = { windowMs: 300_000, quantiles: true }
  const windows = windowsIn(emptyWindows(), 'canary', options, () => clock.now)
  let state = seed * 2_654_435_761 + 1
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  for (let i = 0; i < 10; i += 1) random()
  return { judge: new Judge(windows, new Map(), 'one 1', rollout(more)), random, clock }
}

interface Course {
  readonly share: number
  readonly calls: number
  readonly stable: number
  readonly canary: number
  /** How long calls take, from a random number. */
  ms?(arm: 'stable' | 'canary', random: number): number
}

/** The number of the canary's calls after which it was found outside of its bounds; undefined when it never was. */
function foundAfter(seed: number, { share, calls, stable, canary, ms = (_, r) => 100 + 900 * r }: Course) {
  const { judge, random, clock } = begin(seed)
  let seen = 0
  for (let i = 0; i < calls; i += 1) {
    clock.now += 100
    const arm = random() < share ? ('canary' as const) : ('stable' as const)
    if (arm === 'canary') seen += 1
    const failed = random() < { stable, canary }[arm]
    if (judge.learn({ arm, failed, ms: ms(arm, random()) }) !== undefined) return seen
  }
  return undefined
}

const seeds = Array.from({ length: 25 }, (_, seed) => seed + 1)

test.each([0, 0.01, 0.05, 0.2])('a canary that fails as often as the stable model (%s) stays', (rate) => {
  const course = { share: 0.25, calls: 1500, stable: rate, canary: rate }
  expect(seeds.filter((seed) => foundAfter(seed, course) !== undefined).length).toBeLessThanOrEqual(1)
})

test.each([
  [1, 0, 16],
  [0.5, 0.01, 40],
  [0.2, 0.01, 150],
])(
  'a canary that fails in %s of its calls is found, at one of a hundred calls as well',
  (canary, stable, within) => {
    for (const share of [0.01, 0.25]) {
      for (const seed of seeds.slice(0, 10)) {
        const found = foundAfter(seed, { share, calls: 40_000, stable, canary })
        expect(found).toBeLessThanOrEqual(within)
      }
    }
  },
)

test('where the stable model fails as well, as when their provider is down, the canary stays', () => {
  const course = { share: 0.5, calls: 500, stable: 1, canary: 1 }
  expect(seeds.filter((seed) => foundAfter(seed, course) !== undefined)).toEqual([])
})

test('a canary that is as fast stays, and one that is twice as slow is found', () => {
  const course = { share: 0.25, calls: 1500, stable: 0, canary: 0 }
  expect(seeds.filter((seed) => foundAfter(seed, course) !== undefined).length).toBeLessThanOrEqual(1)
  const ms = (arm: string, random: number) => (100 + 900 * random) * (arm === 'canary' ? 3 : 1)
  for (const seed of seeds) expect(foundAfter(seed, { ...course, ms })).toBeLessThanOrEqual(40)
})

test('when the stable model gets no more calls, what it did before still counts', () => {
  const { judge, random, clock } = begin(7)
  for (let i = 0; i < 100; i += 1) judge.learn({ arm: 'stable', failed: false, ms: 100 })
  clock.now += 1_000_000
  const faults = Array.from({ length: 60 }, () =>
    judge.learn({ arm: 'canary', failed: random() < 0.4, ms: 100 }),
  ).filter((fault) => fault !== undefined)
  expect(faults[0]).toMatch(/^\d+ of \d+ calls failed, and 0 of 100 of the stable model$/)
})

test('the tail of the binomial distribution is the sum of its terms', () => {
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n - 1, k - 1) * n) / k)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.nat(60),
      fc.double({ min: 0.001, max: 0.999, noNaN: true }),
      (n, k, p) => {
        fc.pre(k <= n)
        let sum = 0
        for (let i = k; i <= n; i += 1) sum += choose(n, i) * p ** i * (1 - p) ** (n - i)
        expect(atLeast(k, n, p)).toBeCloseTo(Math.min(1, sum), 8)
      },
    ),
  )
  expect(atLeast(60_000, 100_000, 0.5)).toBeLessThan(1e-9)
  expect(atLeast(1, 100_000, 0.5)).toBeCloseTo(1, 6)
  expect(atLeast(3, 2, 0.5)).toBe(0)
})

test('users are spread evenly, each is always in one place, and a higher percentage keeps those that it had', () => {
  const call = callWith()
  const placeOfUser = (userId: string, id = 'one') =>
    placeOf(id, rollout(), { ...call, principal: { ...call.principal, userId } } as typeof call)
  const places = Array.from({ length: 10_000 }, (_, n) => placeOfUser(`usr_${n}`))
  for (const percent of [1, 10, 50, 90]) {
    const share = places.filter((place) => place < percent).length / 100
    expect(Math.abs(share - percent)).toBeLessThan(1.5)
  }
  expect(placeOfUser('usr_1')).toBe(places[1])
  expect(placeOfUser('usr_1', 'two')).not.toBe(places[1])
})
