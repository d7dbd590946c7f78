import { describe, expect, test } from 'vitest'
import { type Credential, UpstreamError } from '#kernel'
import { noteFailure, noteSuccess, type RestRules, type Rests, restOf } from './rests.ts'

const key: Credential = { id: 'a', weight: 1, secret: 'sk-a', hint: 'a', owner: 'global' }
const rules: RestRules = { cooldownMs: 1000, maxCooldownMs: 60_000, quarantineMs: 5000 }
const errorOf = (providerStatus: number, retryAfterS?: number, model = 'm'): UpstreamError =>
  new UpstreamError('provider_error', 'no', {
    provider: 'p',
    model,
    fault: 'status',
    providerStatus,
    retryable: true,
    retryAfterS,
  })

/** How long the key rests after these errors, each at its time. */
function restsAfter(...errors: readonly [number, UpstreamError][]): Rests {
  const rests: Rests = new Map()
  for (const [at, error] of errors) noteFailure(rests, key, error, rules, at)
  return rests
}

describe('after a limit', () => {
  test('a key rests for as long as its provider says, for that model', () => {
    const rests = restsAfter([0, errorOf(429, 30)])
    expect(restOf(rests, key, 'm', 29_999)).toMatchObject({ reason: 'told', until: 30_000 })
    expect(restOf(rests, key, 'm', 30_000)).toBeUndefined()
    expect(restOf(rests, key, 'other', 0)).toBeUndefined()
  })

  test('but never longer than the longest rest', () => {
    expect(restOf(restsAfter([0, errorOf(429, 86_400)]), key, 'm', 60_000)).toBeUndefined()
  })

  test('without a word on its length it is guessed, longer each time', () => {
    const rests = restsAfter([0, errorOf(429)], [1000, errorOf(429)], [3000, errorOf(429)])
    expect(restOf(rests, key, 'm', 3001)).toMatchObject({ reason: 'guessed', until: 7000, guesses: 3 })
  })

  test('those under way when it began make a guess no longer', () => {
    const rests = restsAfter([0, errorOf(429)], [1, errorOf(429)], [2, errorOf(429)])
    expect(restOf(rests, key, 'm', 3)).toMatchObject({ until: 1000, guesses: 1 })
  })

  test('the later end counts, and only a new rest is news', () => {
    const rests: Rests = new Map()
    const note = (at: number, seconds: number) => noteFailure(rests, key, errorOf(429, seconds), rules, at)
    expect(note(0, 10)).toMatchObject({ until: 10_000 })
    expect(note(1, 5)).toBeUndefined()
    expect(note(2, 20)).toBeUndefined()
    expect(restOf(rests, key, 'm', 3)).toMatchObject({ until: 20_002 })
  })
})

describe('after a refusal', () => {
  test('a 401 puts the key aside for every model, a 403 for the one', () => {
    expect(restOf(restsAfter([0, errorOf(401)]), key, 'other', 4999)).toMatchObject({
      reason: 'refused',
      status: 401,
    })
    const forbidden = restsAfter([0, errorOf(403)])
    expect(restOf(forbidden, key, 'm', 4999)).toMatchObject({ reason: 'refused', status: 403 })
    expect(restOf(forbidden, key, 'other', 1)).toBeUndefined()
  })
})

test('what is not about the key puts nothing aside', () => {
  expect(restsAfter([0, errorOf(500)], [1, errorOf(400)], [2, errorOf(404)]).size).toBe(0)
})

test('an answer ends guesses and refusals, but no rest that was asked for', () => {
  const refused = restsAfter([0, errorOf(401)])
  noteSuccess(refused, key, 'm', 1)
  expect(refused.size).toBe(0)

  const guessed = restsAfter([0, errorOf(429)], [1000, errorOf(429)])
  noteSuccess(guessed, key, 'm', 1001)
  noteFailure(guessed, key, errorOf(429), rules, 2000)
  expect(restOf(guessed, key, 'm', 2001)).toMatchObject({ guesses: 1 })

  const told = restsAfter([0, errorOf(429, 30)])
  noteSuccess(told, key, 'm', 1)
  expect(restOf(told, key, 'm', 2)).toBeDefined()
})

test('what is long over is forgotten', () => {
  const rests = restsAfter([0, errorOf(429, 1, 'old')], [100_000, errorOf(429, 1, 'new')])
  expect([...rests.keys()]).toEqual(['a new'])
})
