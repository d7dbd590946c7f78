import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { addUsage, believedUsage, fromWireUsage, mostTokens, noUsage, type Usage } from './usage.ts'

const anything = fc.oneof(fc.double(), fc.integer(), fc.nat(2 * mostTokens), fc.anything())
const classes = ['cachedRead', 'cacheWrite5m', 'cacheWrite1h', 'reasoning', 'audioIn', 'audioOut', 'imageIn']
const names = ['input', 'output', ...classes]
const reports = fc
  .record(Object.fromEntries(names.map((name) => [name, anything])))
  .map((counts) => ({ ...noUsage, ...counts, source: 'provider' }) as Usage)

test('what is believed of any report is whole, can be, and no part is larger than its whole', () => {
  fc.assert(
    fc.property(reports, (report) => {
      const usage = believedUsage(report)
      if (!usage) return
      for (const name of names as (keyof Usage)[]) {
        const count = usage[name] as number
        const whole = /Out|reasoning|output/.test(name) ? usage.output : usage.input
        expect(Number.isInteger(count) && count >= 0 && count <= whole && whole <= mostTokens).toBe(true)
      }
    }),
  )
})

test('a report that can be is believed as it is', () => {
  const report: Usage = {
    ...noUsage,
    input: mostTokens,
    output: 5,
    cachedRead: 4,
    reasoning: 5,
    source: 'provider',
  }
  expect(believedUsage(report)).toEqual(report)
})

test('a report of a prompt or an answer alone is believed, also when it says null of the other', () => {
  const tokens = (value: null | undefined): never => value as never
  for (const none of [null, undefined]) {
    expect(fromWireUsage({ prompt_tokens: tokens(none), completion_tokens: 5, total_tokens: 5 })).toEqual({
      ...noUsage,
      output: 5,
      source: 'provider',
    })
  }
})

describe('a sum', () => {
  const known = fc.record({
    ...Object.fromEntries(names.map((name) => [name, fc.nat(mostTokens)])),
    source: fc.constantFrom('provider', 'estimated'),
  }) as unknown as fc.Arbitrary<Usage>
  const usages = fc.oneof(known, fc.constant(noUsage))

  test('has the tokens of both in every class', () => {
    fc.assert(
      fc.property(usages, usages, (a, b) => {
        const sum = addUsage(a, b)
        for (const name of names as (keyof Usage)[])
          expect(sum[name]).toBe((a[name] as number) + (b[name] as number))
      }),
    )
  })

  test('is an estimate when a part is, and nothing when both are', () => {
    fc.assert(
      fc.property(usages, usages, (a, b) => {
        const sources = [a.source, b.source]
        const source = ['estimated', 'provider', 'none'].find((one) => sources.includes(one as 'none'))
        expect(addUsage(a, b).source).toBe(source)
      }),
    )
  })
})

describe('not believed', () => {
  it.each([1e300, Number.POSITIVE_INFINITY, Number.NaN, -1, 2 ** 53 - 1, mostTokens + 1, '12', {}, true])(
    'is a prompt, or an answer, of %s tokens',
    (odd) => {
      const [input, output] = [odd as number, odd as number]
      expect(believedUsage({ ...noUsage, input, source: 'provider' })).toBeUndefined()
      expect(believedUsage({ ...noUsage, output, source: 'provider' })).toBeUndefined()
      expect(fromWireUsage({ prompt_tokens: input, total_tokens: 1 })).toEqual(noUsage)
      expect(fromWireUsage({ prompt_tokens: 1, completion_tokens: output, total_tokens: 1 })).toEqual(noUsage)
    },
  )

  it('is what says nothing', () => {
    expect([believedUsage(undefined), believedUsage(noUsage)]).toEqual([undefined, undefined])
  })
})
