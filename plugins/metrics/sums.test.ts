import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Scrape } from '../../test/prometheus.ts'
import { runs } from '../../test/suite/runs.ts'
import { summed } from './families.ts'
import { ModelLabels, written } from './labels.ts'
import { rising } from './readings.ts'
import { add, emptySums, merge, observe, type Sums, take } from './sums.ts'
import { exposition } from './text.ts'

const labels = fc.constantFrom('', 'model="a"', 'model="b"')
const step = fc.oneof(
  fc.record({ labels, add: fc.nat(1000) }),
  fc.record({ labels, observe: fc.double({ min: 0, max: 1000, noNaN: true }) }),
)

const apply = (sums: Sums, one: { labels: string; add?: number; observe?: number }): void => {
  if (one.add !== undefined) add(sums, summed.calls, one.labels, one.add)
  if (one.observe !== undefined) observe(sums, summed.callSeconds, one.labels, one.observe)
}

test('parts of several threads, sent whenever, add up to what one thread would have counted', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(2), fc.boolean())), (steps) => {
      const [one, all] = [emptySums(), emptySums()]
      const threads = [emptySums(), emptySums(), emptySums()]
      for (const [what, thread, isSent] of steps) {
        apply(one, what)
        apply(threads[thread]!, what)
        if (isSent) merge(all, structuredClone(take(threads[thread]!)))
      }
      for (const thread of threads) merge(all, take(thread))
      const [expected, seen] = [new Scrape(exposition(one, [])), new Scrape(exposition(all, []))]
      expect(seen.value('switchyard_calls_total')).toBe(expected.value('switchyard_calls_total'))
      const buckets = (from: Scrape) =>
        from
          .samples('switchyard_call_duration_seconds', {}, '_bucket')
          .map(({ labels, value }) => [labels.model, labels.le, value].join())
      expect(buckets(seen).toSorted()).toEqual(buckets(expected).toSorted())
    }),
    runs(200),
  )
})

test('a value is in the bucket that it is at most, and in all above', () => {
  const sums = emptySums()
  for (const seconds of [0.05, 0.051, 300, 301]) observe(sums, summed.callSeconds, '', seconds)
  const seen = new Scrape(exposition(sums, []))
  const upTo = (le: string) => seen.samples('switchyard_call_duration_seconds', { le }, '_bucket')[0]!.value
  expect(['0.05', '0.1', '120', '300', '+Inf'].map(upTo)).toEqual([1, 2, 2, 3, 4])
  expect(seen.value('switchyard_call_duration_seconds')).toBe(4)
  expect(seen.samples('switchyard_call_duration_seconds', {}, '_sum')[0]!.value).toBeCloseTo(601.101, 9)
})

test('any text can be a label, and is read as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (model) => {
      const sums = emptySums()
      add(sums, summed.calls, written({ model }), 1)
      const [sample] = new Scrape(exposition(sums, [])).samples('switchyard_calls_total')
      expect(sample!.labels).toEqual({ model })
    }),
    runs(300),
  )
})

test('a metric has 5,000 series at the most, and what has no place is counted', () => {
  const sums = emptySums()
  for (let n = 0; n < 5010; n += 1) {
    add(sums, summed.calls, `n="${n}"`, 1)
    observe(sums, summed.callSeconds, `n="${n}"`, 1)
  }
  add(sums, summed.calls, 'n="0"', 1)
  expect(sums.leftOut).toBe(20)
  expect(sums.counters.get(summed.calls.name)!.get('n="0"')).toBe(2)
  expect(sums.histograms.get(summed.callSeconds.name)!.size).toBe(5000)
})

test('the first hundred models that answered have labels', () => {
  const models = new ModelLabels(new Map())
  expect(models.of('openai', 'gpt')).toBe('provider="openai",model="other"')
  for (let n = 0; n < 101; n += 1) models.learn('openai', `gpt-${n}`)
  expect(models.of('openai', 'gpt-99')).toBe('provider="openai",model="gpt-99"')
  expect(models.of('openai', 'gpt-100')).toBe('provider="openai",model="other"')
  expect(models.of()).toBe('provider="",model=""')
})

test('a sum that falls goes on from where it was', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100)), (seen) => {
      const all = {}
      let last = 0
      for (const sum of seen) {
        const risen = rising(all, 'traces', sum)
        expect(risen).toBeGreaterThanOrEqual(Math.max(last, sum))
        last = risen
      }
    }),
    runs(100),
  )
})
