import { expect, test } from 'vitest'
import type { Left } from '#kernel'
import { errorOf, headersOf, type Measure, type Ruled, type Scope, tightest } from './claims.ts'
import { hitOf, RateLimitHit } from './hit.ts'

const ruled = (unit: Measure, scope: Scope = 'key', most = 10): Ruled =>
  ({ unit, scope, subject: `${scope}_1`, limit: { most } }) as unknown as Ruled

const left = (remaining: number, resetMs = 0): Left => ({ remaining, resetMs }) as Left

test.each([
  [
    ['tokens', 5],
    ['requests', 9],
    ['concurrency', 1],
  ],
  [
    ['requests', 9],
    ['tokens', 1],
  ],
] as const)(
  'clients are told of requests before tokens, and of tokens before calls at a time: %j',
  (...all) => {
    const claims = all.map(([unit]) => ruled(unit))
    const rest = all.map(([, remaining]) => left(remaining))
    expect(all[tightest(claims, rest)]).toEqual(['requests', 9])
  },
)

test('of limits of one kind the one with least left is told', () => {
  const claims = [ruled('tokens'), ruled('tokens'), ruled('tokens')]
  expect(tightest(claims, [left(3), left(1), left(2)])).toBe(1)
  expect(tightest(claims, [left(1), left(2), left(3)])).toBe(0)
  expect(tightest(claims, [left(3), left(2), left(1)])).toBe(2)
  expect(tightest([ruled('concurrency'), ruled('tokens')], [left(0), left(9)])).toBe(1)
})

test('headers say what is left, and when all of it is there again, in whole seconds', () => {
  expect(headersOf(ruled('requests'), left(7, 1001))).toEqual({
    'X-RateLimit-Limit': 10,
    'X-RateLimit-Remaining': 7,
    'X-RateLimit-Reset': 2,
  })
})

test('a refusal says whose limit was reached', () => {
  const details = { scope: 'user', measure: 'tokens', limit: 10, retry_after_s: 7 }
  const error = errorOf(ruled('tokens', 'user'), 7)
  expect(error).toMatchObject({ code: 'rate_limited', retryAfterS: 7, details })
  expect(error.message).toBe('The limit of 10 tokens a minute for this user is reached; try again in 7 s.')
  expect(errorOf(ruled('requests', 'global'), 1).message).toContain('for all calls together is reached')
})

test('an event of a limit has a window, but for calls at a time', () => {
  const about = { scope: 'key', scope_id: 'key_1', limit: 10, retry_after_s: 7 }
  expect(RateLimitHit.name).toBe('rate_limit_hit')
  for (const measure of ['requests', 'tokens'] as const)
    expect(hitOf(ruled(measure), 7)).toEqual({ ...about, measure, window_s: 60 })
  expect(hitOf(ruled('concurrency'), 7)).toEqual({ ...about, measure: 'concurrency', window_s: null })
})
