import { expect, it } from 'vitest'
import { translation } from '../../../test/translation.ts'
import openai from '../../openai/manifest.json' with { type: 'json' }
import { retryAfterS, type UpstreamFailure, upstreamFailure } from './upstream-failure.ts'

const { target } = translation(openai as Parameters<typeof translation>[0], { model: 'gpt-4o' })
const failure = (fields: UpstreamFailure) => upstreamFailure(fields, target)

it.each([
  [400, 400, 'bad_request', false],
  [404, 404, 'not_found', false],
  [413, 413, 'bad_request', false],
  [422, 422, 'bad_request', false],
  [429, 429, 'rate_limited', true],
  [402, 502, 'provider_error', false],
  [408, 502, 'provider_error', true],
  [424, 502, 'provider_error', true],
  [500, 502, 'provider_error', true],
  [529, 502, 'provider_error', true],
])('status %i is %i %s to the caller', (given, status, code, retryable) => {
  expect(failure({ status: given })).toMatchObject({ status, code, retryable, providerStatus: given })
})

it.each([
  [401, {}, 401],
  [403, {}, 403],
  [400, { ofKey: 401 as const }, 401],
])('status %i of the key is the provider’s affair and not the caller’s', (status, more, providerStatus) => {
  const error = failure({ status, message: 'the key sk-1 is wrong', ...more })
  expect(error).toMatchObject({ status: 502, code: 'provider_error', retryable: false, providerStatus })
  expect(error.message).not.toContain('sk-1')
})

it('whose key was refused is said, and that none was sent', () => {
  const about = (key: typeof target.key, name = 'openai') =>
    upstreamFailure({ status: 401 }, { ...target, key, provider: { ...target.provider, name } }).message
  const key = { id: 'openai/1', secret: 'sk-1', hint: '', weight: 1, owner: 'global' as const }
  expect(about(key)).toBe("openai refused the gateway's key (status 401).")
  expect(about({ ...key, owner: 'user' })).toBe('openai refused your own key (status 401).')
  expect(about(undefined)).toBe(
    'openai needs a key, but the call was sent without one (status 401): set OPENAI_API_KEY, or store your own with PUT /api/auth/me/providers/openai.',
  )
})

it('a long message is cut before the word that would be a part of a key', () => {
  const words = 'so it is '.repeat(110)
  expect(failure({ status: 400, message: `${words}sk_live_abcdefghijklmnop` }).message).toBe(
    `openai: ${words.trimEnd()}`,
  )
  expect(failure({ status: 400, message: 'x'.repeat(2000) }).message).toBe(
    'openai: it answered with status 400',
  )
})

it('what no caller can change is not the caller’s mistake, and what is shown may be said', () => {
  expect(failure({ status: 400, notOfCaller: true })).toMatchObject({ status: 502, code: 'provider_error' })
  expect(failure({ status: 529, shown: 503 })).toMatchObject({ status: 503, providerStatus: 529 })
})

it('a provider’s own word on trying again outweighs its status', () => {
  const headers = { 'x-should-retry': 'false', 'retry-after': '3' }
  expect(failure({ status: 529, headers })).toMatchObject({ retryable: false, retryAfterS: undefined })
  expect(failure({ status: 400, headers: { 'x-should-retry': 'true' } }).retryable).toBe(true)
})

it.each([
  [{ 'retry-after': '7' }, 7],
  [{ 'retry-after': '1.5' }, 1.5],
  [{ 'retry-after': '17.5s' }, 17.5],
  [{ 'retry-after': '60', 'retry-after-ms': '250' }, 0.25],
  [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  [{ 'retry-after': '9'.repeat(300) }, 86_400],
  [{ 'retry-after-ms': '1e300' }, 86_400],
  [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 86_400],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('the wait in %o is %s seconds', (headers, seconds) => {
  expect(retryAfterS(headers)).toBe(seconds)
})
