import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Rates } from '../../../contract/pricing.ts'
import { noUsage, type Usage } from '../../../kit/canonical/usage.ts'
import { itemsOf } from './items.ts'
import { amountsOf } from './rates.ts'

const count = fc.nat(200_000)
const usages = fc
  .record({
    plain: count,
    said: count,
    cachedRead: count,
    cacheWrite5m: count,
    cacheWrite1h: count,
    audioIn: count,
    imageIn: count,
    reasoning: count,
    audioOut: count,
  })
  .map(({ plain, said, ...classes }): Usage => {
    const { cachedRead, cacheWrite5m, cacheWrite1h, audioIn, imageIn, reasoning, audioOut } = classes
    const input = plain + cachedRead + cacheWrite5m + cacheWrite1h + audioIn + imageIn
    return { ...noUsage, ...classes, input, output: said + reasoning + audioOut, source: 'provider' }
  })

const rate = fc.oneof(
  fc.nat(100),
  fc.record({ base: fc.nat(100), tiers: fc.constant([{ start: 200_000, price: 7 }]) }),
)
const rates: fc.Arbitrary<Rates> = fc.record(
  { input: rate, output: rate, cachedRead: rate, cacheWrite5m: rate, reasoning: rate, audioIn: rate },
  { requiredKeys: ['input', 'output'] },
)

test('the items of a bill add up to its total, whatever the tiers', () => {
  fc.assert(
    fc.property(rates, usages, (rates, usage) => {
      const sum = itemsOf(rates, usage).reduce((all, { costNano }) => all + costNano, 0)
      expect(sum).toBe(amountsOf(rates, usage)?.totalNano)
    }),
  )
})

test('each token is on one item only, at its own price', () => {
  const usage: Usage = {
    ...noUsage,
    input: 1000,
    cachedRead: 400,
    output: 50,
    reasoning: 20,
    source: 'provider',
  }
  expect(itemsOf({ input: 2, output: 8, cachedRead: 1 }, usage)).toEqual([
    { class: 'input', tokens: 600, costNano: 1_200_000, usdPerM: 2 },
    { class: 'cachedRead', tokens: 400, costNano: 400_000, usdPerM: 1 },
    { class: 'output', tokens: 30, costNano: 240_000, usdPerM: 8 },
    { class: 'reasoning', tokens: 20, costNano: 160_000, usdPerM: 8 },
  ])
})

test('what has no price has no items', () => {
  expect(itemsOf({ input: 2 }, { ...noUsage, output: 5, source: 'provider' })).toEqual([])
})

test('only tokens that there are need a price', () => {
  const usage = { ...noUsage, input: 3, output: 5, source: 'provider' } as const
  expect(amountsOf({ output: 8 }, { ...usage, input: 0 })?.totalNano).toBe(40_000)
  expect(amountsOf({ input: 2 }, { ...usage, output: 0 })?.totalNano).toBe(6_000)
  expect(amountsOf({ output: 8 }, usage)).toBeUndefined()
  expect(amountsOf({ input: 2 }, usage)).toBeUndefined()
})

test('a tier is for prompts that are longer than its start', () => {
  const rates: Rates = { input: { base: 2, tiers: [{ start: 100, price: 7 }] }, output: 8 }
  const of = (input: number) => itemsOf(rates, { ...noUsage, input, source: 'provider' })
  expect(of(100)).toEqual([{ class: 'input', tokens: 100, costNano: 200_000, usdPerM: 2 }])
  expect(of(101)).toEqual([{ class: 'input', tokens: 101, costNano: 707_000, usdPerM: 7 }])
})
