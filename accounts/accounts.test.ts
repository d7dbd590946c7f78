import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../storage/index.ts'
import { openLevel } from '../storage/level.ts'
import { shareEngine } from '../storage/shared.ts'
import { Accounts } from './accounts.ts'
import { Claims } from './claims.ts'

let folder: string
let engine: Engine
let accounts: Accounts

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-accounts-'))
  engine = await openLevel(folder)
  accounts = await Accounts.open(engine)
})

afterEach(async () => {
  vi.useRealTimers()
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

/** A user with a key. */
const someone = (email = 'ada@example.com') => accounts.signUp({ email, plan: 'free' })

test('a known key is answered without a promise', async () => {
  const { user, key, secret } = await someone()
  const principal = { type: 'user', keyId: key.id, userId: user.id, plan: 'free' }
  expect(await accounts.authenticate(secret)).toEqual(principal)
  expect(accounts.authenticate(secret)).toEqual(principal)
})

test('accounts and keys are made, rotated and deleted from any thread', async () => {
  const shared = shareEngine(engine)
  const ends = [shared.open(), shared.open()] as const
  const [near, far] = await Promise.all([Accounts.open(ends[0]), Accounts.open(ends[1])])
  const { user, secret } = await far.signUp({ email: 'bob@example.com', plan: 'free' })
  expect(await near.authenticate(secret)).toMatchObject({ userId: user.id })
  const { key } = await far.keys.issue({ type: 'user', userId: user.id })
  const rotated = await far.keys.rotate(user.id, key.id)
  expect(await near.authenticate(rotated.secret)).toMatchObject({ keyId: rotated.key.id })
  await far.deleteUser(user.id)
  expect(await near.authenticate(rotated.secret)).toBeUndefined()
  for (const end of ends) await end.close()
})

test('the key of the configuration is an admin, and is stored nowhere', async () => {
  accounts.adopt('sy_admin_configured')
  expect(accounts.authenticate('sy_admin_configured')).toMatchObject({ type: 'admin', userId: undefined })
  expect(await accounts.keys.hasAdmin()).toBe(false)
})

test('a key that was shown on a connection before is asked about anew after every change', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const { user, key, secret } = await someone()
  const other = await accounts.keys.issue({ type: 'user', userId: user.id })
  const brief = await accounts.keys.issue(
    { type: 'user', userId: user.id },
    { expiresAt: new Date(Date.now() + 1000).toISOString() },
  )
  const connection = {}
  const shown = (given: string) => accounts.authenticate(given, connection)
  for (const { secret } of [other, brief]) await shown(secret)
  for (let n = 0; n < 3; n += 1) expect(await shown(secret)).toMatchObject({ keyId: key.id, plan: 'free' })
  expect(shown(other.secret)).toMatchObject({ keyId: other.key.id })
  expect(await shown(`${secret}x`)).toBeUndefined()
  expect(await shown(secret.slice(0, -1))).toBeUndefined()

  expect(shown(secret)).toMatchObject({ plan: 'free' })
  await accounts.changeUser(user.id, { plan: 'team' })
  expect(await shown(secret)).toMatchObject({ plan: 'team' })
  expect(await accounts.authenticate(secret, {})).toMatchObject({ plan: 'team' })
  expect(shown(secret)).toMatchObject({ plan: 'team' })
  await accounts.keys.revoke(user.id, key.id)
  expect(await shown(secret)).toBeUndefined()

  expect(await shown(brief.secret)).toMatchObject({ keyId: brief.key.id })
  vi.setSystemTime(Date.now() + 1000)
  expect(await shown(brief.secret)).toBeUndefined()

  expect(await shown(other.secret)).toMatchObject({ keyId: other.key.id })
  await accounts.deleteUser(user.id)
  expect(await shown(other.secret)).toBeUndefined()
})

test('a key that is revoked while it is being looked up is refused from then on', async () => {
  for (let n = 0; n < 50; n += 1) {
    const { user, key, secret } = await someone(`race-${n}@example.com`)
    await Promise.all([accounts.authenticate(secret), accounts.keys.revoke(user.id, key.id)])
    expect(await accounts.authenticate(secret)).toBeUndefined()
  }
})

test('a plan that changes while a key is being looked up holds from then on', async () => {
  for (let n = 0; n < 50; n += 1) {
    const { user, secret } = await someone(`race-${n}@example.com`)
    await Promise.all([accounts.authenticate(secret), accounts.changeUser(user.id, { plan: 'team' })])
    expect(await accounts.authenticate(secret)).toMatchObject({ plan: 'team' })
  }
})

test('the use of a key is noted once a minute at the most, and survives a restart', async () => {
  const { key, secret } = await someone()
  const noted = vi.spyOn(accounts.keys, 'use')
  vi.useFakeTimers({ toFake: ['Date'] })
  const start = Date.now()
  for (const ms of [0, 1, 59_999]) {
    vi.setSystemTime(start + ms)
    await accounts.authenticate(secret)
  }
  expect(noted).toHaveBeenCalledTimes(1)
  expect(accounts.keys.lastUse(key.id)).toBe(start)
  vi.setSystemTime(start + 60_000)
  await accounts.authenticate(secret)
  expect(accounts.keys.lastUse(key.id)).toBe(start + 60_000)

  await engine.close()
  engine = await openLevel(folder)
  accounts = await Accounts.open(engine)
  expect(accounts.keys.lastUse(key.id)).toBe(start + 60_000)
})

test('the keys of a deleted user stop, and an admin key that the user held with them', async () => {
  const { user, secret } = await someone()
  const admin = `sy_admin_${'x'.repeat(40)}`
  await accounts.keys.import(admin, { type: 'admin', userId: user.id })
  expect(await accounts.authenticate(admin)).toMatchObject({ type: 'admin', userId: undefined })
  await accounts.deleteUser(user.id)
  expect(await accounts.authenticate(secret)).toBeUndefined()
  expect(await accounts.authenticate(admin)).toBeUndefined()
})

test.each([
  ['the end of its grace', '9999-01-01T00:00:00.000Z', 60],
  ['the end of its grace, also when it expires in a year of five figures', '+010000-01-01T00:00:00.000Z', 60],
  ['its own expiry, where that comes first', new Date(Date.now() + 30_000).toISOString(), 30],
])('a key that is rotated with a grace works until %s', async (_, expiresAt, seconds) => {
  const { user } = await someone()
  const owner = { type: 'user', userId: user.id } as const
  const { key, secret } = await accounts.keys.issue(owner, { expiresAt })
  expect(await accounts.authenticate(secret)).toBeDefined()
  const rotated = await accounts.keys.rotate(user.id, key.id, 60)
  expect(rotated.key.expires_at).toBe(expiresAt)
  vi.useFakeTimers({ toFake: ['Date'] })
  const start = Date.now()
  vi.setSystemTime(start + seconds * 1000 - 10_000)
  expect(await accounts.authenticate(secret)).toBeDefined()
  vi.setSystemTime(start + seconds * 1000 + 1)
  expect(await accounts.authenticate(secret)).toBeUndefined()
})

test('of keys that have ended the newest hundred are kept, and all that work', async () => {
  const { user, key, secret } = await someone()
  const brought = 'sy_brought_from_elsewhere_0123456789'
  const first = await accounts.keys.import(brought, { type: 'user', userId: user.id })
  await accounts.keys.revoke(user.id, first.id)
  const expiresAt = new Date(Date.now() - 1).toISOString()
  for (let n = 0; n < 100; n += 1) {
    await accounts.keys.issue({ type: 'user', userId: user.id }, { name: `${n}`, expiresAt })
  }
  const { items, total } = await accounts.keys.of(user.id, { limit: 200, offset: 0 })
  expect([total, items[0]!.id, items[1]!.name]).toEqual([101, key.id, '0'])
  expect(await accounts.keys.find(first.id)).toBeUndefined()
  expect(await accounts.authenticate(brought)).toBeUndefined()
  expect(await accounts.authenticate(secret)).toMatchObject({ keyId: key.id })
  expect(await accounts.keys.working(user.id)).toEqual({ current: 1, replaced: 0 })
})

const Owner = z.object({})

test('a claim whose owner is not there counts for nothing, and a real one never lapses', async () => {
  const owners = engine.collection('owners', { schema: Owner })
  const claims = new Claims(engine, 'names', owners)
  const take = (owner: string) =>
    engine.transaction((transaction) => {
      const isTaken = claims.take(transaction, 'name', owner)
      if (isTaken) transaction.put(owners, owner, {})
      return isTaken
    })
  await engine.transaction((transaction) => claims.take(transaction, 'name', 'crashed'))
  const takers = await Promise.all(['a', 'b', 'c'].map(take))
  expect(takers).toEqual([true, false, false])
  await engine.transaction((transaction) => claims.release(transaction, 'name', 'b'))
  expect(await take('d')).toBe(false)
  await engine.transaction((transaction) => claims.release(transaction, 'name', 'a'))
  expect(await take('d')).toBe(true)
})

test('an account comes with its first key or not at all', async () => {
  const signUp = (email: string) => accounts.signUp({ email, plan: 'free' }, { name: 'first key' })
  const many = await Promise.allSettled(Array.from({ length: 20 }, () => signUp('Ada@example.com')))
  const [won] = many.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await accounts.authenticate(won!.secret)).toMatchObject({ userId: won!.user.id })
  expect((await accounts.users({ limit: 10, offset: 0 })).total).toBe(1)
  expect(await engine.contents('keys')).toMatchObject([{ entries: 1 }])
})

test('of rotations at the same time one succeeds, and the others leave no key behind', async () => {
  const { user, key } = await someone()
  const rotated = await Promise.allSettled(
    Array.from({ length: 20 }, () => accounts.keys.rotate(user.id, key.id)),
  )
  expect(rotated.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const one of rotated) if (one.status === 'rejected') expect(one.reason.status).toBe(409)
  expect((await accounts.keys.of(user.id, { limit: 10, offset: 0 })).total).toBe(2)
})

test('a deleted user leaves no key, and its address to others', async () => {
  const { user } = await someone()
  await accounts.keys.import('sy_brought_from_elsewhere_0123456789', { type: 'user', userId: user.id })
  await accounts.deleteUser(user.id)
  expect(
    (await engine.contents('')).filter(({ kind, entries }) => kind === 'collection' && entries > 0),
  ).toEqual([])
  expect(await accounts.deleteUser(user.id)).toBe(false)
  expect(await someone()).toBeDefined()
})
