import { expect, test } from 'vitest'
import { type AccessToken, AccessTokens } from './access-tokens.ts'

const minute = 60_000

/** Tokens named by their number, good for an hour, at a clock that the test turns. */
function clocked() {
  const clock = { now: 0, fetched: 0, fails: false }
  const tokens = new AccessTokens<string>(() => clock.now)
  const fetch = async (): Promise<AccessToken<string>> => {
    clock.fetched += 1
    if (clock.fails) throw new Error('no')
    return { value: `token ${clock.fetched}`, expiresAt: clock.now + 60 * minute }
  }
  const key = {}
  return { clock, tokens, key, get: async (of: object = key) => tokens.get(of, fetch) }
}

test('one is fetched for all who ask at a time, and then given without a promise', async () => {
  const { clock, tokens, key, get } = clocked()
  expect(await Promise.all([get(), get(), get()])).toEqual(['token 1', 'token 1', 'token 1'])
  expect(tokens.get(key, () => expect.unreachable())).toBe('token 1')
  expect(await get({})).toBe('token 2')
  expect(clock.fetched).toBe(2)
})

test('one that ends soon is used while the next is fetched, once', async () => {
  const { clock, get } = clocked()
  await get()
  clock.now = 54 * minute
  await get()
  expect(clock.fetched).toBe(1)
  clock.now = 56 * minute
  expect(await Promise.all([get(), get()])).toEqual(['token 1', 'token 1'])
  expect(await get()).toBe('token 2')
  expect(clock.fetched).toBe(2)
})

test('while none can be fetched the old one is used as long as it lasts, and the source is left in peace', async () => {
  const { clock, get } = clocked()
  await get()
  clock.now = 56 * minute
  clock.fails = true
  for (let i = 0; i < 5; i += 1) expect(await get()).toBe('token 1')
  expect(clock.fetched).toBe(2)
  clock.now = 57 * minute
  await get()
  expect(clock.fetched).toBe(3)
  clock.now = 60 * minute
  await expect(get()).rejects.toThrow('no')
  await expect(get()).rejects.toThrow('no')
  clock.fails = false
  expect(await get()).toBe('token 6')
})

test('one that is forgotten is fetched again, also when it was still on its way', async () => {
  const { tokens, key, get } = clocked()
  const first = get()
  tokens.forget(key)
  expect(await first).toBe('token 1')
  expect(await get()).toBe('token 2')
  tokens.forget(key)
  expect(await get()).toBe('token 3')
})
