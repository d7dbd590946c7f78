import fc from 'fast-check'
import { expect, test } from 'vitest'
import { callWith } from '../../test/chain.ts'
import { runs } from '../../test/suite/runs.ts'
import { limitTokens, tokenLimit, tokenLimitFields } from './token-limit.ts'

test('a request has the limit that services read', () => {
  const limitOf = (request: object) => tokenLimit({ model: 'm', ...request })
  expect(limitOf({})).toBeUndefined()
  expect(limitOf({ max_tokens: null })).toBeUndefined()
  expect(limitOf({ max_tokens: 5, max_completion_tokens: null })).toBe(5)
  expect(limitOf({ max_tokens: 5, max_completion_tokens: 7 })).toBe(7)
})

test('a limited call asks for a number, no field asks for more, and none is raised', () => {
  const limit = fc.option(fc.nat(100), { nil: undefined })
  fc.assert(
    fc.property(limit, limit, fc.integer({ min: 1, max: 100 }), (first, second, most) => {
      const call = callWith({
        ...(first !== undefined && { max_completion_tokens: first }),
        ...(second !== undefined && { max_tokens: second }),
      })
      const limited = limitTokens(call, most)
      expect(tokenLimit(limited.request)).toBe(Math.min(first ?? second ?? most, most))
      for (const field of tokenLimitFields) {
        const own = call.request[field]
        if (own !== undefined) expect(limited.request[field]).toBe(Math.min(own!, most))
      }
      const isUnder = Math.max(first ?? 0, second ?? 0) <= most && (first ?? second) !== undefined
      expect(limited === call).toBe(isUnder)
    }),
    runs(200),
  )
})
