import { expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { collect, withEngine } from '../conformance/harness.ts'
import type { Change } from '../index.ts'
import { openLevel } from '../level.ts'
import { Account, accountOptions, newerAccountOptions } from './crash-parts.ts'

const account = (balance: number) => ({ owner: 'o', balance })

test('an id that is no text of its own stands for no other row', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    // As a key, half a surrogate pair is this character.
    await accounts.put('\ufffd', account(1))
    expect(await accounts.get('\ud800')).toBeUndefined()
    expect(await accounts.delete('\ud800')).toBe(false)
    const refused = { code: 'ID_INVALID' }
    await expect(accounts.put('\ud800', account(2))).rejects.toMatchObject(refused)
    await expect(accounts.create('\ud800', account(2))).rejects.toMatchObject(refused)
    await expect(accounts.update('\ud800', () => account(2))).rejects.toMatchObject(refused)
    expect(await accounts.get('\ufffd')).toEqual(account(1))
  }))

test('deleting what is not there is no change', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    const changes: Change<unknown>[] = []
    accounts.watch((change) => changes.push(change))
    expect(await accounts.delete('a')).toBe(false)
    await accounts.put('a', account(1))
    expect(await accounts.delete('a')).toBe(true)
    expect(changes).toEqual([{ id: 'a', row: account(1) }, { id: 'a' }])
  }))

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

test.each([0, 1, 2, 3, 4])(
  'a shape that is asked for %i turns after the one before is what all read',
  (turns) =>
    withEngine(openLevel, async ({ engine, reopen }) => {
      await engine.collection('accounts', accountOptions).put('a', account(1))
      const again = await reopen()
      again.collection('accounts', newerAccountOptions)
      for (let n = 0; n < turns; n++) await turn()
      const accounts = again.collection('accounts', {
        ...newerAccountOptions,
        version: 3,
        migrate: (row, version) => ({ ...Account.parse(row), currency: `from ${version}` }),
      })
      const readings: Promise<unknown>[] = []
      for (let n = 0; n < 20; n++) {
        readings.push(
          accounts.get('a'),
          again.transaction((tx) => tx.get(accounts, 'a')),
        )
        await turn()
      }
      const rows = await Promise.all(readings)
      expect(rows[0]).toMatchObject({ ...account(1), currency: expect.stringMatching(/^from [12]$/) })
      expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBe(1)
    }),
)

test('what is being read when a shape is asked for is read in that shape', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    await accounts.put('a', account(1))
    const read = accounts.get('a')
    const changed = accounts.update('a', (row) => row)
    const listed = accounts.list()
    const newer = engine.collection('accounts', newerAccountOptions)
    const brought = { ...account(1), currency: 'eur' }
    expect(await read).toEqual(brought)
    expect(await changed).toEqual(brought)
    expect(await listed).toEqual({ items: [brought], total: 1 })
    expect(await newer.get('a')).toEqual(brought)
  }))

test('what is listed goes on in the shape that it began with', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    await Promise.all(Array.from({ length: 600 }, (_, n) => accounts.put(`id${n}`, account(1))))
    const listing = accounts.scan()[Symbol.asyncIterator]()
    const first = await listing.next()
    expect(first.value?.[1]).toEqual(account(1))
    const newer = engine.collection('accounts', newerAccountOptions)
    expect((await newer.list({ limit: 1 })).items).toEqual([{ ...account(1), currency: 'eur' }])
    let rest = 0
    for (let next = await listing.next(); !next.done; next = await listing.next()) {
      expect(next.value[1]).toEqual(account(1))
      rest += 1
    }
    expect(rest).toBe(599)
  }))

test('a listing by an index shows the rows of its moment, on any page', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    await Promise.all(Array.from({ length: 600 }, (_, n) => accounts.put(`id${n}`, account(1))))
    let seen = 0
    for await (const [, row] of accounts.scan({ index: 'owner', equals: 'o' })) {
      if (seen++ === 0) await Promise.all(['id98', 'id99'].map((id) => accounts.put(id, account(2))))
      expect(row).toEqual(account(1))
    }
    expect(seen).toBe(600)
    for (const reverse of [false, true]) {
      const all = (await collect(accounts.scan({ reverse }))).map(([id]) => id)
      const page = await collect(accounts.scan({ reverse, offset: 258, limit: 3 }))
      expect(page.map(([id]) => id)).toEqual(all.slice(258, 261))
      expect(await accounts.list({ reverse, offset: 600 })).toEqual({ items: [], total: 600 })
    }
    expect(await accounts.list({ limit: 0 })).toEqual({ items: [], total: 600 })
  }))

test('a range over values that an index does not have is refused, and no id passes for one', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    // Where the key of an entry has its next value, this one's has an id that looks like a text.
    await accounts.put('sb', account(1))
    const range = { index: 'owner', equals: 'o', from: 'a' }
    const refused = { code: 'QUERY_INVALID', message: expect.stringContaining('"owner"') }
    await expect(accounts.list(range)).rejects.toMatchObject(refused)
    await expect(accounts.count(range)).rejects.toMatchObject(refused)
    await expect(collect(accounts.scan(range))).rejects.toMatchObject(refused)
  }))

test.skipIf(!hasFullDevice)(
  'a collection that the disk refused to prepare is prepared when it takes writes',
  () =>
    withEngine(openLevel, async ({ engine, folder }) => {
      const first = engine.collection('first', accountOptions)
      await first.put('a', account(1))
      await fillUp(folder, engine.compact)
      const accounts = engine.collection('accounts', accountOptions)
      const refused = { code: 'STORE_FAILED' }
      await expect(accounts.put('a', account(1))).rejects.toMatchObject(refused)
      await expect(accounts.list()).rejects.toMatchObject(refused)
      await vi.waitFor(
        () => Promise.all([accounts.put('a', account(1)), accounts.put('b', account(2))]),
        10_000,
      )
      await engine.transaction((tx) => tx.update(accounts, 'a', (row) => row && account(row.balance + 2)))
      expect(await collect(accounts.scan())).toEqual([
        ['a', account(3)],
        ['b', account(2)],
      ])
    }),
)
