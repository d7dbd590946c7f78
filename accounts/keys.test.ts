import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Engine } from '../storage/index.ts'
import { openLevel } from '../storage/level.ts'
import { Accounts } from './accounts.ts'
import { firstAdminKey } from './first-key.ts'
import { hashOf, isMadeHere, keyStatus } from './key.ts'
import { type Keys, operator } from './keys.ts'
import { cameFrom, type Known, KnownKeys, noteAddress } from './known-keys.ts'
import type { Key } from './records.ts'

let folder: string
let engine: Engine
let accounts: Accounts
let keys: Keys

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-keys-'))
  engine = await openLevel(folder)
  accounts = await Accounts.open(engine)
  keys = accounts.keys
})

afterEach(async () => {
  vi.useRealTimers()
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const page = { limit: 100, offset: 0 }
const someone = (email: string, name?: string) => accounts.signUp({ email, name, plan: 'free' })

describe('a key', () => {
  test('says by its form whose it is, and shows its ends alone', async () => {
    const admin = await keys.issue({ type: 'admin' }, { name: 'ci', expiresAt: '2999-01-01T00:00:00Z' })
    const { user, ...users } = await someone('ada@example.com')
    expect(admin.secret).toMatch(/^sy_admin_[0-9A-Za-z]{43}$/)
    expect(users.secret).toMatch(/^sy_live_[0-9A-Za-z]{43}$/)
    for (const { key, secret } of [admin, users]) {
      expect(key).toMatchObject({
        id: expect.stringMatching(/^key_/),
        hash: hashOf(secret),
        prefix: secret.slice(0, 12),
        last_four: secret.slice(-4),
        status: 'active',
      })
      expect(JSON.stringify(key)).not.toContain(secret.slice(12, -4))
    }
    expect(admin.key).toMatchObject({ type: 'admin', name: 'ci', expires_at: '2999-01-01T00:00:00Z' })
    expect(admin.key).not.toHaveProperty('user_id')
    expect(users.key).toMatchObject({ type: 'user', user_id: user.id })
    expect(users.key).not.toHaveProperty('name')
    expect(users.key).not.toHaveProperty('expires_at')
  })

  test.each([
    [`sy_live_${'a'.repeat(43)}`, true],
    [`sy_admin_${'0'.repeat(43)}`, true],
    [`xsy_live_${'a'.repeat(43)}`, false],
    [`sy_live_${'a'.repeat(44)}`, false],
    [`sy_live_${'a'.repeat(42)}`, false],
    [`sy_test_${'a'.repeat(43)}`, false],
  ])('%s was made here: %s', (secret, isMade) => {
    expect(isMadeHere(secret)).toBe(isMade)
  })

  test('has ended in the millisecond that it expires in', () => {
    const key = { status: 'active', expires_at: '2026-01-01T00:00:00.000Z' } as Key
    const end = Date.parse(key.expires_at!)
    expect([end - 1, end, end + 1].map((now) => keyStatus(key, now))).toEqual([
      'active',
      'expired',
      'expired',
    ])
    expect(keyStatus({ ...key, status: 'revoked' }, end - 1)).toBe('revoked')
  })
})

describe('the keys of a holder', () => {
  test('are its own, and for nobody else to see, revoke or rotate', async () => {
    const ada = await someone('ada@example.com')
    const bob = await someone('bob@example.com')
    const admin = await keys.issue({ type: 'admin' })
    for (const [holder, { key }] of [
      [ada.user.id, ada],
      [bob.user.id, bob],
      [operator, admin],
    ] as const)
      expect((await keys.of(holder, page)).items).toEqual([key])
    const missing = expect.objectContaining({ code: 'not_found', param: 'keyId' })
    for (const act of ['get', 'revoke', 'rotate'] as const)
      await expect(keys[act](ada.user.id, bob.key.id)).rejects.toEqual(missing)
    await expect(keys.get(ada.user.id, 'key_none')).rejects.toEqual(missing)
    expect(await keys.get(bob.user.id, bob.key.id)).toEqual(bob.key)
    expect(await accounts.authenticate(bob.secret)).toMatchObject({ userId: bob.user.id })
  })

  test('that ended are kept up to a hundred, the newest', async () => {
    const { user } = await someone('ada@example.com')
    const ended: string[] = []
    for (let n = 0; n < 102; n += 1) {
      const { key } = await keys.issue({ type: 'user', userId: user.id })
      await keys.revoke(user.id, key.id)
      ended.push(key.id)
    }
    await keys.issue({ type: 'user', userId: user.id })
    const left = (await keys.allOf(user.id)).filter(({ status }) => status === 'revoked')
    expect(left.map(({ id }) => id)).toEqual(ended.slice(2))
  })
})

describe('a key that is rotated', () => {
  test('ends at once without a grace, and with one keeps to it and to its own end', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') })
    const issue = (expiresAt?: string) => keys.issue({ type: 'admin' }, { name: 'ci', expiresAt })
    const [plain, long, short] = [await issue(), await issue(), await issue('2026-01-01T00:00:30Z')]
    const rotated = await keys.rotate(operator, plain.key.id)
    expect(rotated.key.name).toBe('ci')
    expect(await keys.get(operator, plain.key.id)).toMatchObject({
      status: 'revoked',
      replaced_by: rotated.key.id,
    })
    expect(await keys.get(operator, plain.key.id)).not.toHaveProperty('expires_at')
    await keys.rotate(operator, long.key.id, 60)
    expect((await keys.get(operator, long.key.id)).expires_at).toBe('2026-01-01T00:01:00.000Z')
    const next = await keys.rotate(operator, short.key.id, 60)
    expect((await keys.get(operator, short.key.id)).expires_at).toBe('2026-01-01T00:00:30.000Z')
    expect(next.key.expires_at).toBe('2026-01-01T00:00:30Z')
  })

  test('is not rotated again, nor is one that was revoked, and the reason is said', async () => {
    const [replaced, revoked] = [await keys.issue({ type: 'admin' }), await keys.issue({ type: 'admin' })]
    const { key } = await keys.rotate(operator, replaced.key.id, 60)
    await keys.revoke(operator, revoked.key.id)
    for (const [id, reason] of [
      [replaced.key.id, `replaced by ${key.id}`],
      [revoked.key.id, 'revoked'],
    ] as const)
      await expect(keys.rotate(operator, id)).rejects.toMatchObject({
        status: 409,
        param: 'keyId',
        message: expect.stringContaining(`is ${reason};`),
      })
  })
})

describe('a key that was brought', () => {
  const brought = 'a key of another gateway, which is long enough'

  test('is taken in once, whoever brings it, also at the same time', async () => {
    const asked = [0, 1, 2].map(() => keys.import(brought, { type: 'admin' }))
    const answers = await Promise.allSettled(asked)
    const refused = answers.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(2)
    const known = expect.objectContaining({ status: 409, param: 'key' })
    for (const one of refused) expect(one).toMatchObject({ reason: known })
    await expect(keys.import(brought, { type: 'admin' })).rejects.toEqual(known)
    expect(await accounts.authenticate(brought)).toMatchObject({ type: 'admin' })
  })

  test('may be one that was made here, and is refused where it is known', async () => {
    const { secret } = await keys.issue({ type: 'admin' })
    await expect(keys.import(secret, { type: 'admin' })).rejects.toMatchObject({ status: 409, param: 'key' })
    await keys.import(`sy_live_${'a'.repeat(43)}`, { type: 'admin' })
    expect(await accounts.authenticate(`sy_live_${'a'.repeat(43)}`)).toMatchObject({ type: 'admin' })
  })
})

test('a first admin key is made where none works', async () => {
  await someone('ada@example.com')
  expect(await keys.hasAdmin()).toBe(false)
  const first = await firstAdminKey(keys)
  expect(await accounts.authenticate(first!)).toMatchObject({ type: 'admin' })
  expect(await keys.hasAdmin()).toBe(true)
  expect(await firstAdminKey(keys)).toBeUndefined()
  const [key] = (await keys.of(operator, page)).items
  expect(key!.name).toBe('first boot')
  await keys.revoke(operator, key!.id)
  expect(await keys.hasAdmin()).toBe(false)
  expect(await firstAdminKey(keys)).toBeDefined()
})

test('when a key was used last is forgotten with the key', async () => {
  const { user, key, secret } = await someone('ada@example.com')
  expect(keys.lastUse(key.id)).toBe(0)
  await accounts.authenticate(secret)
  expect(keys.lastUse(key.id)).toBeGreaterThan(0)
  await accounts.deleteUser(user.id)
  expect(keys.lastUse(key.id)).toBe(0)
})

describe('a user', () => {
  test('has a name where one was given, until it is taken away', async () => {
    const { user: unnamed } = await someone('ada@example.com')
    const { user } = await someone('bob@example.com', 'Bob')
    expect(unnamed).toMatchObject({ id: expect.stringMatching(/^usr_/), plan: 'free' })
    expect(unnamed).not.toHaveProperty('name')
    expect(user.name).toBe('Bob')
    expect(await accounts.changeUser(user.id, { plan: 'pro' })).toMatchObject({ name: 'Bob', plan: 'pro' })
    expect(await accounts.changeUser(user.id, { name: 'Rob' })).toMatchObject({ name: 'Rob', plan: 'pro' })
    expect(await accounts.changeUser(user.id, { name: null })).not.toHaveProperty('name')
    expect(await accounts.user(user.id)).not.toHaveProperty('name')
  })

  test('that has an address has it in any spelling', async () => {
    await someone('Ada@example.com')
    await expect(someone('aDA@example.com')).rejects.toMatchObject({ status: 409, param: 'email' })
  })

  test('that is not there is not found, by its id', async () => {
    const missing = expect.objectContaining({ code: 'not_found', param: 'id' })
    await expect(accounts.user('usr_none')).rejects.toEqual(missing)
    await expect(accounts.changeUser('usr_none', { plan: 'pro' })).rejects.toEqual(missing)
    expect(await accounts.deleteUser('usr_none')).toBe(false)
  })

  test("has no say in an admin's key, which lives as long as its user", async () => {
    const { user } = await someone('ada@example.com')
    const { secret, key } = await keys.issue({ type: 'admin', userId: user.id })
    expect(await accounts.authenticate(secret)).toEqual({
      type: 'admin',
      keyId: key.id,
      userId: undefined,
      plan: 'team',
    })
    await accounts.deleteUser(user.id)
    expect(await accounts.authenticate(secret)).toBeUndefined()
  })
})

describe('the addresses of a key', () => {
  test('are the eight that it came from last', () => {
    const addresses: string[] = []
    for (let n = 0; n < 9; n += 1) noteAddress(addresses, `192.0.2.${n}`)
    expect(addresses).toEqual([8, 7, 6, 5, 4, 3, 2, 1].map((n) => `192.0.2.${n}`))
    noteAddress(addresses, '192.0.2.5')
    noteAddress(addresses, '192.0.2.5')
    expect(addresses).toEqual([5, 8, 7, 6, 4, 3, 2, 1].map((n) => `192.0.2.${n}`))
    noteAddress(addresses, '192.0.2.1')
    expect(addresses).toEqual([1, 5, 8, 7, 6, 4, 3, 2].map((n) => `192.0.2.${n}`))
  })

  test('count by their networks', () => {
    const known = { addresses: ['2001:db8:1:2::1', '192.0.2.1'] } as unknown as Known
    expect(cameFrom(known, '2001:db8:1:2::9')).toBe(true)
    expect(cameFrom(known, '192.0.2.1')).toBe(true)
    expect(cameFrom(known, '192.0.2.2')).toBe(false)
    expect(cameFrom({ addresses: undefined } as Known, '192.0.2.1')).toBe(false)
    expect(cameFrom(undefined, '192.0.2.1')).toBe(false)
  })
})

test('known keys hold until they, their holder or all are forgotten', () => {
  const known = new KnownKeys()
  const make = (holder: string | undefined): Known => ({ holder, holds: true }) as unknown as Known
  const [ada, bob, admin] = [make('ada'), make('bob'), make(undefined)]
  for (const [digest, one] of [
    ['a', ada],
    ['b', bob],
    ['c', admin],
  ] as const)
    known.set(digest, one)
  const [near, far] = [{}, {}]
  known.show(near, 'secret', ada)
  expect(known.shownBefore(near, 'secret')).toBe(ada)
  expect(known.shownBefore(near, 'other')).toBeUndefined()
  expect(known.shownBefore(far, 'secret')).toBeUndefined()
  known.deleteOf('ada')
  expect([known.get('a'), known.get('b'), known.get('c')]).toEqual([undefined, bob, admin])
  expect([ada.holds, bob.holds]).toEqual([false, true])
  expect(known.shownBefore(near, 'secret')).toBeUndefined()
  known.delete('b')
  expect([bob.holds, admin.holds]).toEqual([false, true])
  known.clear()
  expect([known.get('c'), admin.holds]).toEqual([undefined, false])
})
