import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type Bounds,
  enter,
  isBlank,
  type LoadLimit,
  leave,
  newLoadLimit,
  type Running,
  type Told,
  takeOver,
} from './load-limit.ts'

const bounds: Bounds = { min: 4, max: 1024, tolerance: 2 }

/** A provider that works on so many calls at a time, and lets others wait in the order they came. */
interface Provider {
  readonly slots: number
  /** How much the lengths of calls differ: the standard deviation of their logarithm. A call takes a second. */
  readonly spread: number
  /** Calls that arrive, in multiples of those that it sustains. */
  readonly load: number
  readonly seconds: number
  readonly seed: number
}

interface Arrived {
  readonly at: number
  readonly lengthMs: number
  readonly running: Running | undefined
}

/** A load on a provider, played without a clock: what callers saw, with the limit or without one. */
function play(provider: Provider, bounds?: Bounds, load = bounds && newLoadLimit(bounds, 0)) {
  const random = randomOf(provider.seed)
  const gapMs = 1000 / (provider.slots * provider.load)
  const ends: { at: number; call: Arrived }[] = []
  const queue: Arrived[] = []
  const latencies: number[] = []
  const limits: number[] = []
  let lastEnd = 0

  const start = (call: Arrived, at: number): void => {
    const end = { at: at + call.lengthMs, call }
    const place = ends.findIndex((other) => other.at > end.at)
    ends.splice(place === -1 ? ends.length : place, 0, end)
  }
  const finishUntil = (now: number): void => {
    for (let end = ends[0]; end && end.at <= now; end = ends[0]) {
      ends.shift()
      const { call, at } = end
      latencies.push(at - call.at)
      lastEnd = at
      if (load && bounds) {
        leave(load, call.running!, { kind: 'plain', ms: at - call.at }, bounds, at)
        limits.push(load.limit)
      }
      const next = queue.shift()
      if (next) start(next, at)
    }
  }

  let now = 0
  while (now < provider.seconds * 1000) {
    now += -Math.log(1 - random()) * gapMs
    finishUntil(now)
    const lengthMs = 1000 * Math.exp(provider.spread * normal(random))
    const running = load && enter(load, 1)
    if (load && !running) continue
    const call = { at: now, lengthMs, running }
    if (ends.length < provider.slots) start(call, now)
    else queue.push(call)
  }
  finishUntil(Number.POSITIVE_INFINITY)
  return { latencies, limits, perSecond: (1000 * latencies.length) / lastEnd, load }
}

/** Of a list that is not empty. */
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Of mean 0 and deviation 1 (Box and Muller). */
const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** The least that takes part: calls that begin together and end together, each after so many milliseconds. */
function round(load: LoadLimit, count: number, told: Told | undefined, now = 0): number {
  const running = Array.from({ length: count }, () => enter(load, 1)).filter((one) => one !== undefined)
  for (const one of running) leave(load, one, told, bounds, now)
  return running.length
}

const took = (ms: number, kind = 'plain'): Told => ({ kind, ms })

test.each<Pick<Provider, 'slots' | 'spread'>>([
  { slots: 5, spread: 0 },
  { slots: 20, spread: 0 },
  { slots: 20, spread: 0.25 },
  { slots: 60, spread: 0.1 },
  { slots: 100, spread: 0.5 },
])('at three times the load that it sustains, a provider stays fast and busy: %j', (provider) => {
  const during = { seconds: 200, seed: 7, ...provider }
  const alone = play({ ...during, load: 0.3 }, bounds)
  const peak = play({ ...during, load: 0.95 })
  const flooded = play({ ...during, load: 3 }, bounds)
  const unguarded = play({ ...during, load: 3, seconds: 40 })
  const usual = quantile(alone.latencies, 0.99)
  expect(quantile(unguarded.latencies, 0.99)).toBeGreaterThan(20 * usual)
  expect(quantile(flooded.latencies, 0.99)).toBeLessThan(bounds.tolerance * usual)
  expect(flooded.perSecond).toBeGreaterThan(0.8 * peak.perSecond)
})

test('an overload that lasts for hours does not become the new measure of what is fast', () => {
  const provider = { slots: 10, spread: 0.1, seed: 3, seconds: 6000 }
  const alone = play({ ...provider, load: 0.3 }, bounds)
  const flooded = play({ ...provider, load: 3 }, bounds)
  const late = flooded.latencies.slice(-10_000)
  expect(quantile(late, 0.99)).toBeLessThan(bounds.tolerance * quantile(alone.latencies, 0.99))
  expect(late.length / flooded.latencies.length).toBeLessThan(0.2)
})

test('a provider that became slower for good is no overload once its latency was measured anew', () => {
  const load = newLoadLimit(bounds, 0)
  for (let n = 0; n < 20; n += 1) round(load, 100, took(100))
  for (let n = 0; n < 40; n += 1) round(load, 100, took(400))
  expect(load.limit).toBeLessThan(10)
  const eleven = 11 * 60_000
  for (let n = 0; n < 40; n += 1) round(load, 100, took(400), eleven)
  expect(load.limit).toBeGreaterThan(60)
})

test('places of calls that ran before are taken over, and measured again within a minute if they are too many', () => {
  const load = newLoadLimit({ ...bounds, max: 20 }, 0)
  for (let n = 0; n < 30; n += 1) takeOver(load, { ...bounds, max: 20 }, 0)
  expect(load.limit).toBe(20)
  expect(isBlank(load)).toBe(false)
  const crowded = newLoadLimit(bounds, 0)
  for (let n = 0; n < 60; n += 1) takeOver(crowded, bounds, 0)
  expect(round(crowded, 100, took(1000))).toBe(64)
  expect(crowded.limit).toBeLessThan(80)
  round(crowded, 100, took(1000), 60_000)
  expect(crowded.limit).toBeLessThan(45)
  for (let n = 0; n < 3; n += 1) round(crowded, 100, took(400), 60_000)
  for (let n = 0; n < 30; n += 1) round(crowded, 100, took(1000), 60_000)
  expect(crowded.limit).toBeLessThan(20)
})

test('it grows only while it is used', () => {
  const load = newLoadLimit(bounds, 0)
  for (let n = 0; n < 200; n += 1) round(load, 1, took(100))
  expect(load.limit).toBe(bounds.min)
  for (let n = 0; n < 200; n += 1) round(load, 100, took(100))
  expect(load.limit).toBeGreaterThan(40)
})

test('providers that say that they are overloaded halve it, once for all calls that ran', () => {
  const load = newLoadLimit({ ...bounds, min: 64 }, 0)
  const running = Array.from({ length: 64 }, () => enter(load, 1)!)
  for (const one of running) leave(load, one, 'overloaded', bounds, 0)
  expect(load.limit).toBe(36)
})

test('a share of the limit is for calls that may use no more', () => {
  const load = newLoadLimit({ ...bounds, min: 10 }, 0)
  const entered = (share: number) =>
    Array.from({ length: 20 }, () => enter(load, share)).filter((one) => one !== undefined).length
  expect([entered(0.6), entered(0.8), entered(1)]).toEqual([6, 2, 2])
})

test('it grows fast until calls have ever been slow, and then by steps', () => {
  const load = newLoadLimit({ ...bounds, min: 10 }, 0)
  for (let n = 0; n < 3; n += 1) round(load, 10, took(100))
  expect(load.limit).toBeCloseTo(10 * 1.4 ** 3)
  for (let n = 0; n < 4; n += 1) round(load, 100, took(400))
  expect(load.limit).toBeLessThan(10)
  const change = (): void => {
    const { edition } = load
    while (load.edition === edition) round(load, 100, took(100))
  }
  change()
  const { limit } = load
  change()
  expect(load.limit).toBeCloseTo(limit + Math.sqrt(limit))
})

test('measuring anew takes no room from a model that refuses nothing', () => {
  const load = newLoadLimit({ ...bounds, min: 10 }, 0)
  for (let n = 0; n < 6; n += 1) round(load, 10, took(100))
  const { limit } = load
  round(load, 10, took(100), 10 * 60_000)
  round(load, 10, took(100), 10 * 60_000)
  expect(load.limit).toBeGreaterThanOrEqual(limit)
})

test('calls that say nothing change nothing but the room they leave', () => {
  const load = newLoadLimit(bounds, 0)
  for (let n = 0; n < 50; n += 1) expect(round(load, 100, undefined)).toBe(bounds.min)
  expect(load).toMatchObject({ limit: bounds.min, running: 0, edition: 0 })
})

test('calls are compared with calls of their kind', () => {
  const load = newLoadLimit(bounds, 0)
  for (let n = 0; n < 200; n += 1) round(load, 100, n % 2 === 0 ? took(100, 'short') : took(60_000, 'long'))
  expect(load.limit).toBeGreaterThan(40)
})

test('whatever the provider and the load are, the limit stays in its bounds, and all that came in goes out', () => {
  const provider = fc.record({
    slots: fc.integer({ min: 1, max: 50 }),
    spread: fc.double({ min: 0, max: 1, noNaN: true }),
    load: fc.double({ min: 0.1, max: 5, noNaN: true }),
    seed: fc.integer({ min: 1, max: 1_000_000 }),
  })
  fc.assert(
    fc.property(provider, (played) => {
      const { limits, load } = play({ ...played, seconds: 20 }, bounds)
      expect(Math.min(...limits)).toBeGreaterThanOrEqual(bounds.min)
      expect(Math.max(...limits)).toBeLessThanOrEqual(bounds.max)
      expect(load!.running).toBe(0)
    }),
    { numRuns: 50 },
  )
})
