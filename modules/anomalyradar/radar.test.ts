import { expect, test } from 'vitest'
import type { FoundAnomaly } from '#kernel'
import { type Chance, chanceOf } from '../../test/chance.ts'
import { Radar, type Subjects } from './radar.ts'
import { bucketMs } from './rates.ts'
import type { Subject } from './subject.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const limits = { z: 4, warmup: 50, minLatencyMs: 1000 }

/** Calls in five minutes on average, by the time of day and of the week. */
type Traffic = (at: number) => number

const daily: Traffic = (at) => 25 * (1 + 0.8 * Math.sin((2 * Math.PI * at) / dayMs))
const weekly: Traffic = (at) => daily(at) * ([0, 6].includes(new Date(at).getUTCDay()) ? 0.2 : 1)

interface Simulated {
  readonly traffic: Traffic
  readonly from: number
  readonly days: number
  readonly chance: Chance
  /** Share of calls that fail. */
  readonly failing?: (at: number) => number
}

/** What is known, without a disk. */
function subjects(): Subjects {
  const all = new Map<string, Subject>()
  return { get: (name) => all.get(name), entries: () => all, add: (name, one) => all.set(name, one) && one }
}

/** A radar to which the calls of many days came, and what it found with the times of it. */
function simulate({ traffic, from, days, chance, failing = () => 0.01 }: Simulated) {
  const found: { at: number; anomaly: FoundAnomaly }[] = []
  let now = from
  const radar = new Radar(subjects(), (anomaly) => found.push({ at: now, anomaly }))
  const logNormal = (median: number): number => median * Math.exp(0.5 * chance.normal())
  for (let bucket = from; bucket < from + days * dayMs; bucket += bucketMs) {
    const count = chance.poisson(traffic(bucket))
    for (let n = 0; n < count; n += 1) {
      now = bucket + (n * bucketMs) / count
      const failed = chance.uniform() < failing(bucket)
      const cost = logNormal(0.01)
      radar.learn({
        trace: `tr_${now}`,
        at: now,
        provider: 'openai',
        model: 'gpt-4o',
        user: undefined,
        project: 'default',
        failed,
        values: failed ? undefined : [logNormal(900), cost * 100_000, cost],
        limits,
      })
    }
    now = bucket + bucketMs
    radar.turn(now)
  }
  return found
}

const start = Date.UTC(2026, 0, 1)
const seeds = [1, 2, 3]

test.each(seeds)(
  'thirty days with a daily season: one false alarm at most (%i)',
  (seed) => {
    const found = simulate({ traffic: daily, from: start + seed * dayMs, days: 30, chance: chanceOf(seed) })
    expect(found.length).toBeLessThanOrEqual(1)
  },
  60_000,
)

test.each(seeds)(
  'a fourfold burst is found within two buckets, at any hour, over weekends (%i)',
  (seed) => {
    const from = start + seed * dayMs
    const burst = from + 24 * dayMs + seed * 7 * hourMs
    const traffic: Traffic = (at) => weekly(at) * (at >= burst && at < burst + 2 * bucketMs ? 4 : 1)
    const found = simulate({ traffic, from, days: 26, chance: chanceOf(seed) })
    const rates = found.filter(({ anomaly: { kind } }) => kind === 'rate')
    expect(rates).toHaveLength(1)
    const [{ at, anomaly }] = rates as [(typeof rates)[number]]
    expect(at).toBeGreaterThan(burst)
    expect(at).toBeLessThanOrEqual(burst + 2 * bucketMs)
    const [{ metric, expected, actual, method }] = anomaly.dimensions
    expect([metric, method]).toEqual(['request_rate', 'seasonal median/MAD'])
    expect(actual / expected).toBeGreaterThan(2)
    expect(anomaly.traces.length).toBeGreaterThan(0)
  },
  60_000,
)

test('a provider that fails is found within two buckets, once, and once more after it has worked', () => {
  const outages = [start + 6 * hourMs, start + 12 * hourMs]
  const failing = (at: number): number =>
    outages.some((outage) => at >= outage && at < outage + hourMs) ? 0.6 : 0.01
  const found = simulate({ traffic: () => 50, from: start, days: 1, chance: chanceOf(7), failing })
  expect(found.map(({ anomaly }) => anomaly.dimensions[0].metric)).toEqual(['error_rate', 'error_rate'])
  found.forEach(({ at, anomaly }, i) => {
    expect(at - outages[i]!).toBeLessThanOrEqual(2 * bucketMs)
    expect(anomaly.dimensions[0].actual).toBeGreaterThan(0.3)
    expect(anomaly.dimensions[0].expected).toBeLessThan(0.1)
  })
})

test('the first days, a quiet model and buckets in which nobody was there say nothing of rates', () => {
  const chance = chanceOf(11)
  const rising: Traffic = (at) => 5 * 2 ** ((at - start) / dayMs)
  expect(simulate({ traffic: rising, from: start, days: 4, chance })).toEqual([])
  expect(simulate({ traffic: () => 0, from: start, days: 10, chance })).toEqual([])
})
