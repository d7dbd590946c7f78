import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { afterRequest, levelOf, type Rate } from './gcra.ts'

/** A bucket of water drops, by the book: it fills by one millisecond's worth each millisecond. */
class Reference {
  readonly #rate: Rate
  #water: number
  #at = 0

  constructor(rate: Rate) {
    this.#rate = rate
    this.#water = rate.burst * rate.intervalMs
  }

  admits(now: number): boolean {
    const { burst, intervalMs } = this.#rate
    this.#water = Math.min(burst * intervalMs, this.#water + (now - this.#at))
    this.#at = now
    if (this.#water < intervalMs) return false
    this.#water -= intervalMs
    return true
  }
}

const rates = fc.record({
  intervalMs: fc.integer({ min: 1, max: 60_000 }),
  burst: fc.integer({ min: 1, max: 50 }),
})
/** Pauses between requests, from none to several intervals. */
const pauses = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 50 }), fc.nat({ max: 100_000 })), {
  maxLength: 300,
})

test('it admits exactly what a token bucket admits', () => {
  fc.assert(
    fc.property(rates, pauses, (rate, gaps) => {
      const reference = new Reference(rate)
      let fullAt: number | undefined
      let now = 0
      for (const gap of gaps) {
        now += gap
        const admitted = levelOf(rate, fullAt, now).remaining > 0
        expect(admitted).toBe(reference.admits(now))
        if (admitted) fullAt = afterRequest(rate, fullAt, now)
      }
    }),
  )
})

test('in no stretch of time it admits more than a burst and the steady flow', () => {
  fc.assert(
    fc.property(rates, pauses, (rate, gaps) => {
      const admitted: number[] = []
      let fullAt: number | undefined
      let now = 0
      for (const gap of gaps) {
        now += gap
        if (levelOf(rate, fullAt, now).remaining === 0) continue
        fullAt = afterRequest(rate, fullAt, now)
        admitted.push(now)
      }
      for (const [i, start] of admitted.entries()) {
        for (const [j, end] of admitted.entries()) {
          const most = rate.burst + Math.floor((end - start) / rate.intervalMs)
          if (j >= i) expect(j - i + 1).toBeLessThanOrEqual(most)
        }
      }
    }),
    runs(30),
  )
})

test('what it says of the future comes true', () => {
  fc.assert(
    fc.property(rates, pauses, (rate, gaps) => {
      let fullAt: number | undefined
      let now = 0
      for (const gap of gaps) {
        now += gap
        if (levelOf(rate, fullAt, now).remaining > 0) fullAt = afterRequest(rate, fullAt, now)
      }
      const { remaining, retryMs, resetMs } = levelOf(rate, fullAt, now)
      let at = fullAt
      for (let n = 0; n < remaining; n += 1) at = afterRequest(rate, at, now)
      expect(levelOf(rate, at, now).remaining).toBe(0)
      expect(levelOf(rate, fullAt, now + retryMs).remaining).toBeGreaterThan(0)
      if (retryMs > 0) expect(levelOf(rate, fullAt, now + retryMs - 1).remaining).toBe(0)
      expect(levelOf(rate, fullAt, now + resetMs).remaining).toBe(rate.burst)
    }),
  )
})

test('rounding costs no request of a burst, whatever the rate and however long it has run', () => {
  for (const perMinute of [7, 60, 333, 1000, 9973]) {
    const rate = { intervalMs: 60_000 / perMinute, burst: perMinute }
    const now = 1_234_567_890.123
    let fullAt: number | undefined
    let admitted = 0
    for (; levelOf(rate, fullAt, now).remaining > 0; admitted += 1) fullAt = afterRequest(rate, fullAt, now)
    expect(admitted).toBe(perMinute)
  }
})
