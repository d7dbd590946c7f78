import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createIds, newId, secretToken } from './id.ts'

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const decode = (text: string) => [...text].reduce((n, character) => n * 32 + alphabet.indexOf(character), 0)
const timeOf = (ulid: string) => decode(ulid.slice(0, 10))

describe('newId', () => {
  it('is the prefix and a ULID that carries the time', () => {
    const before = Date.now()
    const id = newId('tr_')
    expect(id).toMatch(/^tr_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    expect(timeOf(id.slice(3))).toBeGreaterThanOrEqual(before)
    expect(timeOf(id.slice(3))).toBeLessThanOrEqual(Date.now())
  })

  it('encodes every time as the specification does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
        expect(timeOf(createIds(() => ms)(''))).toBe(ms)
      }),
    )
  })

  it('grows strictly, in bursts within one millisecond too', () => {
    const ids = Array.from({ length: 50_000 }, () => newId(''))
    expect(ids.every((id, n) => n === 0 || id > (ids[n - 1] as string))).toBe(true)
  })

  it('grows strictly whatever the clock does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 2 }), (times) => {
        let at = 0
        const make = createIds(() => times[at++] as number)
        const ids = times.map(() => make(''))
        expect(ids.every((id, n) => n === 0 || id > (ids[n - 1] as string))).toBe(true)
      }),
    )
  })

  it('leaves neighbours of one millisecond far apart, so that one does not give away the next', () => {
    const make = createIds(() => 1)
    const low = (id: string) => decode(id.slice(-8))
    const steps = Array.from({ length: 100 }, () => (low(make('')) - low(make('')) + 2 ** 40) % 2 ** 40)
    expect(new Set(steps).size).toBe(100)
  })

  it('does not repeat between two sources at one instant', () => {
    const ids = Array.from({ length: 1000 }, () => createIds(() => 7)(''))
    expect(new Set(ids).size).toBe(1000)
  })
})

describe('secretToken', () => {
  it('is 43 letters and digits and never the same', () => {
    const tokens = Array.from({ length: 1000 }, secretToken)
    expect(tokens.every((token) => /^[0-9A-Za-z]{43}$/.test(token))).toBe(true)
    expect(new Set(tokens).size).toBe(1000)
  })

  it('uses every character about equally often', () => {
    const counts = new Map<string, number>()
    for (const character of Array.from({ length: 3000 }, secretToken).join('')) {
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    const expected = (3000 * 43) / 62
    expect(counts.size).toBe(62)
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(expected * 0.2)
  })
})
