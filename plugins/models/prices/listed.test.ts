import { describe, expect, test } from 'vitest'
import type { Rates } from '#kernel'
import type { CatalogueModel } from '../catalogue.ts'
import { completed, listedRates } from './listed.ts'
import type { PackagedPrice } from './packaged.ts'

const model = (usd_per_m: object | undefined) => ({ entry: { usd_per_m } }) as unknown as CatalogueModel
const packaged = (rates: Rates) => ({ rates }) as PackagedPrice

test('a model of the catalogue has a rate for each class that is listed', () => {
  const usd = {
    input: 1,
    output: 2,
    cached_read: 3,
    cache_write_5m: 4,
    cache_write_1h: 5,
    reasoning: 6,
    audio_in: 7,
    audio_out: 8,
    image_in: 9,
    call_usd: 10,
  }
  expect(listedRates(model(usd))).toEqual({
    input: 1,
    output: 2,
    cachedRead: 3,
    cacheWrite5m: 4,
    cacheWrite1h: 5,
    reasoning: 6,
    audioIn: 7,
    audioOut: 8,
    imageIn: 9,
    callUsd: 10,
  })
  expect(listedRates(model(undefined))).toBeUndefined()
})

describe('the rates of the price package', () => {
  const own: Rates = { input: 1, output: 2, cachedRead: 0.5 }

  test('have those of the catalogue for classes that they lack', () => {
    const listed = model({ input: 1, output: 2, cached_read: 0.1, reasoning: 3, audio_in: 4 })
    expect(completed(packaged(own), listed)).toEqual({
      rates: { ...own, reasoning: 3, audioIn: 4 },
      lacking: ['reasoning', 'audioIn'],
    })
  })

  test('lack nothing where the catalogue knows no more', () => {
    expect(completed(packaged(own), model({ input: 1, output: 2 }))).toEqual({ rates: own, lacking: [] })
  })

  test.each([
    ['lists no such model', undefined],
    ['has no price for it', model(undefined)],
    ['has another price for input', model({ input: 9, output: 2, reasoning: 3 })],
    ['has another price for output', model({ input: 1, output: 9, reasoning: 3 })],
    [
      'has a price by tiers where the package has one',
      model({ input: { base: 1, tiers: [] }, output: 2, reasoning: 3 }),
    ],
  ])('stay alone where the catalogue %s', (_, listed) => {
    expect(completed(packaged(own), listed)).toEqual({ rates: own, lacking: [] })
  })

  test('by tiers are completed where the tiers are the same', () => {
    const tiered = { base: 1, tiers: [{ start: 200_000, price: 2 }] }
    const rates: Rates = { input: tiered, output: 2 }
    const listed = model({ input: structuredClone(tiered), output: 2, reasoning: 3 })
    expect(completed(packaged(rates), listed).lacking).toEqual(['reasoning'])
  })
})
