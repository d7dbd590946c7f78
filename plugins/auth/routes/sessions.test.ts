import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Accounts } from '../../../accounts/accounts.ts'
import { kernelServices } from '../../../kernel/services.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { placesOf } from '../../../test/raw-store.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      auth: { admin_rpm: 50, keys_per_user: 0 },
      server: { trusted_proxies: ['127.0.0.1'] },
    },
  })
})

afterAll(() => gateway.close())

type Headers = Record<string, string>

async function ask(method: string, at: string, headers: Headers = {}, body?: object) {
  const response = await fetch(gateway.url + at, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  const answer = (await response.json()) as any
  return { status: response.status, headers: response.headers, body: answer }
}

const withKey = (key: string, more: Headers = {}): Headers => ({ authorization: `Bearer ${key}`, ...more })

/** Signs a browser in; the cookie as it sends it back. */
async function begin(key: string, more: Headers = {}) {
  const { status, headers, body } = await ask('POST', '/api/auth/session', withKey(key, more), {})
  expect([status, body]).toEqual([201, body])
  const set = headers.get('set-cookie')!
  return { set, cookie: { cookie: set.split(';')[0]! }, id: body.id as string, body }
}

const me = async (cookie: Headers, more: Headers = {}) =>
  (await ask('GET', '/api/auth/session', { ...cookie, ...more })).status

let users = 0
const signUp = () => gateway.signUp(`browser${users++}`)

test('a key begins a session, whose cookie stands for the key, until the browser signs out', async () => {
  const { key, userId } = await signUp()
  const { set, cookie, id, body } = await begin(key, { 'user-agent': 'Browser/1' })
  expect(set).toMatch(
    /^switchyard_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=(43199|43200)$/,
  )
  expect(body).toMatchObject({ type: 'user', user_id: userId, current: true, user_agent: 'Browser/1' })
  expect(JSON.stringify(body)).not.toContain(cookie.cookie.split('=')[1])
  expect((await ask('GET', '/api/auth/me', cookie)).body).toMatchObject({ user_id: userId })
  expect((await ask('GET', '/api/auth/session', cookie)).body).toMatchObject({ id, plan: 'free' })
  expect((await ask('GET', '/api/auth/session', { cookie: `a=b; ${cookie.cookie}; c=d` })).status).toBe(200)
  expect((await ask('GET', '/api/auth/users', cookie)).status).toBe(403)
  const out = await ask('DELETE', '/api/auth/session', cookie)
  expect([out.status, out.headers.get('set-cookie')]).toEqual([
    200,
    'switchyard_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
  ])
  expect((await ask('GET', '/api/auth/me', cookie)).body.error).toMatchObject({ code: 'unauthorized' })
})

test('behind TLS the cookie is secure and of this host, and no other name of it counts', async () => {
  const { key } = await signUp()
  const https = { 'x-forwarded-proto': 'https' }
  const { set, cookie } = await begin(key, https)
  expect(set).toMatch(
    /^__Host-switchyard_session=.*; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/,
  )
  expect([await me(cookie, https), await me(cookie)]).toEqual([200, 401])
  const plain = { cookie: cookie.cookie.replace('__Host-', '') }
  expect([await me(plain, https), await me(plain)]).toEqual([401, 200])
})

test('a session is never a key: not for models, and not for another session', async () => {
  const { key } = await signUp()
  const { cookie } = await begin(key)
  const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
  expect((await ask('POST', '/v1/chat/completions', cookie, chat)).status).toBe(401)
  for (const { method, path: at } of gateway.kernel.registry.generation.routes) {
    if (!/^\/v\d/.test(at)) continue
    const response = await ask(method.toUpperCase(), at.replaceAll(/\{\+?\w+\}/g, 'x'), cookie)
    expect([at, response.status]).toEqual([at, 401])
  }
  expect((await ask('POST', '/api/auth/session', cookie, {})).status).toBe(403)
})

test('a key that comes with a cookie counts, and not the cookie', async () => {
  const [one, two] = [await signUp(), await signUp()]
  const { cookie } = await begin(one.key)
  const asTwo = await ask('GET', '/api/auth/me', { ...cookie, ...withKey(two.key) })
  expect(asTwo.body).toMatchObject({ user_id: two.userId })
  expect((await ask('GET', '/api/auth/me', { ...cookie, ...withKey('sy_live_wrong') })).status).toBe(401)
  expect((await ask('GET', '/api/auth/session', withKey(one.key))).status).toBe(404)
})

describe('what pages of other origins send is refused', () => {
  const host = () => new URL(gateway.url).host
  const foreign = (): Headers[] => [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: `http://${host()}` },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://evil.${host()}` },
    { origin: 'http://127.0.0.1:1' },
    { origin: 'no origin' },
  ]
  const own = (): Headers[] => [
    {},
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
    { origin: `http://${host()}` },
    { origin: 'https://gateway.example', 'x-forwarded-host': 'gateway.example' },
  ]

  test('with a session, whatever the method', async () => {
    const { key } = await signUp()
    const { cookie } = await begin(key)
    for (const headers of foreign()) {
      expect(await me(cookie, headers), JSON.stringify(headers)).toBe(403)
      const change = await ask('DELETE', '/api/auth/session', { ...cookie, ...headers })
      expect(change.body.error).toMatchObject({ code: 'forbidden' })
    }
    for (const headers of own()) expect(await me(cookie, headers), JSON.stringify(headers)).toBe(200)
  })

  test('at the sign-in, so that nobody is signed in as somebody else', async () => {
    const { key } = await signUp()
    for (const headers of foreign()) {
      const { status, headers: sent } = await ask('POST', '/api/auth/session', withKey(key, headers), {})
      expect([status, sent.get('set-cookie')]).toEqual([403, null])
    }
    for (const headers of own()) await begin(key, headers)
  })

  test('and a key is not bound to an origin', async () => {
    const { key } = await signUp()
    for (const headers of foreign())
      expect((await ask('GET', '/api/auth/me', withKey(key, headers))).status).toBe(200)
  })
})

describe('a session ends with the key that began it', () => {
  test('when that is revoked or deleted with its user', async () => {
    const { key, userId } = await signUp()
    const { cookie, body } = await begin(key)
    await gateway.api('DELETE', `/api/auth/users/${userId}/keys/${body.key_id}`)
    expect(await me(cookie)).toBe(401)
    const listed = () => gateway.api('GET', `/api/auth/sessions?user_id=${userId}`)
    await expect.poll(async () => (await listed()).body.total).toBe(0)
    const other = await signUp()
    const session = await begin(other.key)
    await gateway.api('DELETE', `/api/auth/users/${other.userId}`)
    expect(await me(session.cookie)).toBe(401)
    expect((await gateway.api('GET', `/api/auth/sessions?user_id=${other.userId}`)).body.total).toBe(0)
  })

  test('when that is rotated, at the end of its grace', async () => {
    const { key } = await signUp()
    const { cookie, body } = await begin(key)
    const rotate = (grace: number, by: string, id: string) =>
      ask('POST', `/api/auth/me/keys/${id}/rotate`, withKey(by), { grace_seconds: grace })
    const graced = await rotate(60, key, body.key_id)
    expect([graced.status, await me(cookie)]).toEqual([200, 200])
    const next = await begin(graced.body.new_key)
    const rotated = await rotate(0, graced.body.new_key, graced.body.new_key_id)
    expect([rotated.status, await me(next.cookie)]).toEqual([200, 401])
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect(await me(cookie)).toBe(401)
    vi.useRealTimers()
  })

  test('when that expires, and at the latest after its hours', async () => {
    const { key, userId } = await signUp()
    const ends = new Date(Date.now() + 60_000).toISOString()
    const { body } = await gateway.api('POST', `/api/auth/users/${userId}/keys`, { expires_at: ends })
    const [short, long] = [await begin(body.api_key), await begin(key)]
    expect(short.body.expires_at).toBe(ends)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    expect([await me(short.cookie), await me(long.cookie)]).toEqual([401, 200])
    vi.setSystemTime(Date.now() + 12 * 3_600_000)
    expect(await me(long.cookie)).toBe(401)
    vi.useRealTimers()
  })

  test('also when it is the key of the configuration', async () => {
    const { cookie, body } = await begin(gateway.adminKey)
    expect(body).toMatchObject({ type: 'admin', key_id: 'key_configured', user_id: null })
    expect((await ask('GET', '/api/auth/users', cookie)).status).toBe(200)
    const accounts = gateway.kernel.container.resolve<Accounts>(kernelServices.accounts)
    accounts.adopt('sy_admin_another_0123456789abcdefghijklm')
    expect(await me(cookie)).toBe(401)
    accounts.adopt(gateway.adminKey)
    expect(await me(cookie)).toBe(200)
  })
})

test('users list and end their own sessions, admins all', async () => {
  const [one, two] = [await signUp(), await signUp()]
  const [first, second, other] = [await begin(one.key), await begin(one.key), await begin(two.key)]
  const own = (await ask('GET', '/api/auth/sessions', first.cookie)).body
  expect(own).toMatchObject({
    sessions: [
      { id: first.id, current: true },
      { id: second.id, current: false },
    ],
    total: 2,
  })
  expect(JSON.stringify(own)).not.toMatch(/"hash"|sealed_key/)
  expect((await ask('GET', `/api/auth/sessions?user_id=${two.userId}`, first.cookie)).status).toBe(403)
  expect((await ask('DELETE', `/api/auth/sessions/${other.id}`, first.cookie)).status).toBe(404)
  expect((await ask('DELETE', `/api/auth/sessions/${second.id}`, first.cookie)).status).toBe(200)
  expect([await me(first.cookie), await me(second.cookie)]).toEqual([200, 401])
  const all = (await gateway.api('GET', '/api/auth/sessions?limit=500')).body.sessions as { id: string }[]
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([first.id, other.id]))
  expect((await gateway.api('DELETE', `/api/auth/sessions/${other.id}`)).body).toEqual({
    deleted: true,
    id: other.id,
  })
  expect(await me(other.cookie)).toBe(401)
})

test('a user has so many sessions, and of more the oldest end', async () => {
  const { key, userId } = await signUp()
  const first = await begin(key)
  const later = await Promise.all(Array.from({ length: 20 }, () => begin(key)))
  const { body } = await gateway.api('GET', `/api/auth/sessions?user_id=${userId}`)
  expect([body.total, await me(first.cookie), await me(later[19]!.cookie)]).toEqual([20, 401, 200])
})

test('a session has 600 requests a minute of its own, and takes none of its key’s 50', async () => {
  const { cookie } = await begin(gateway.adminKey)
  for (let sent = 0; sent < 600; sent += 100) {
    const statuses = await Promise.all(Array.from({ length: 100 }, () => me(cookie)))
    expect(new Set(statuses)).toEqual(new Set([200]))
  }
  const { status, headers } = await ask('GET', '/api/auth/session', cookie)
  expect([status, headers.get('x-ratelimit-limit')]).toEqual([429, '600'])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await gateway.api('GET', '/api/auth/sessions')).status).toBe(200)
})

test('what is no session’s secret is refused, and only the hash of one is on disk', async () => {
  for (const value of ['', 'x', 'x'.repeat(43), '../../etc', 'a'.repeat(5000)])
    expect(await me({ cookie: `switchyard_session=${value}` })).toBe(401)
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-sessions-'))
  const shared = gateway
  gateway = await startGateway({ dataDir })
  try {
    const { adminKey, logged } = gateway
    const { key } = await signUp()
    const { cookie } = await begin(key)
    await begin(adminKey)
    const secret = cookie.cookie.split('=')[1]!
    await gateway.close()
    const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')
    expect(await placesOf(dataDir, secret)).toEqual([])
    expect(logged.join()).not.toContain(secret)
    expect(await placesOf(dataDir, hashOf(secret))).not.toEqual([])
    // That of the configured key is nowhere, though it has sessions.
    expect(await placesOf(dataDir, hashOf(adminKey))).toEqual([])
    expect(await placesOf(dataDir, hashOf(key))).not.toEqual([])
  } finally {
    gateway = shared
    await rm(dataDir, { recursive: true })
  }
})
