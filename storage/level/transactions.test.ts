import { Level } from 'level'
import { expect, test } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { withEngine } from '../conformance/harness.ts'
import type { Transaction } from '../index.ts'
import { openLevel } from '../level.ts'
import { accountOptions, Link, linkAfter, newerAccountOptions } from './crash-parts.ts'
import { CollectionKeys } from './row-writer.ts'

const account = (balance: number) => ({ owner: `o${balance}`, balance })
const keys = new CollectionKeys('accounts')

test('what a transaction read is on disk when it is over, though it wrote nothing', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    const chain = engine.sequence('chain', Link)
    await accounts.count()
    const readings: Record<string, (tx: Transaction, id: string) => unknown> = {
      get: (tx, id) => tx.get(accounts, id),
      update: (tx, id) => tx.update(accounts, id, () => undefined),
      create: (tx, id) => tx.create(accounts, id, account(2)),
      require: (tx, id) => tx.require(accounts, id, (row) => row === undefined),
    }
    for (const [id, read] of Object.entries(readings)) {
      let isWritten = false
      const written = accounts.put(id, account(1)).then(() => {
        isWritten = true
      })
      await new Promise<void>((resolve) => queueMicrotask(resolve))
      await engine.transaction((tx) => void read(tx, id)).catch(() => {})
      expect([id, isWritten]).toEqual([id, true])
      await written
    }
    let isAppended = false
    const appended = chain.append(linkAfter).then(() => {
      isAppended = true
    })
    expect(await engine.transaction((tx) => tx.end(chain))).toMatchObject({ seq: 1 })
    expect(isAppended).toBe(true)
    await appended
  }))

test.skipIf(!hasFullDevice)('a transaction that changes nothing needs no disk that takes writes', () =>
  withEngine(openLevel, async ({ engine, folder }) => {
    const accounts = engine.collection('accounts', accountOptions)
    await accounts.put('a', account(1))
    await fillUp(folder, engine.compact)
    await expect(engine.transaction((tx) => tx.put(accounts, 'b', account(2)))).rejects.toMatchObject({
      code: 'STORE_FAILED',
    })
    const read = await engine.transaction((tx) => {
      tx.delete(accounts, 'not there')
      return tx.get(accounts, 'a')
    })
    expect(read).toEqual(account(1))
  }),
)

test('a transaction replaces and deletes damaged rows, and leaves nothing of them behind', () =>
  withEngine(openLevel, async ({ engine, folder, reopen }) => {
    const before = engine.collection('accounts', accountOptions)
    for (const id of ['put', 'delete', 'stays']) await before.put(id, account(1))
    await engine.close()
    const database = new Level<string, string>(folder)
    for (const id of ['put', 'delete']) await database.put(keys.row(id), 'damaged')
    await database.close()

    const again = await reopen()
    const accounts = again.collection('accounts', accountOptions)
    await expect(again.transaction((tx) => tx.get(accounts, 'put'))).rejects.toMatchObject({
      code: 'ROW_UNREADABLE',
    })
    await again.transaction((tx) => {
      tx.put(accounts, 'put', account(2))
      tx.delete(accounts, 'delete')
    })
    expect(await accounts.list()).toEqual({ items: [account(2), account(1)], total: 2 })
    const { items, total } = await accounts.list({ index: 'owner' })
    expect({ items, total }).toEqual({ items: [account(1), account(2)], total: 2 })
    expect(await accounts.count({ index: 'owner', equals: 'o1' })).toBe(1)
  }))

test('a transaction waits until rows are of the present version, and is refused when they cannot be', () =>
  withEngine(openLevel, async ({ engine, reopen }) => {
    await engine.collection('accounts', accountOptions).put('a', account(1))
    const newer = await reopen()
    const accounts = newer.collection('accounts', newerAccountOptions)
    expect(await newer.transaction((tx) => tx.get(accounts, 'a'))).toEqual({ ...account(1), currency: 'eur' })

    const older = await reopen()
    const ahead = older.collection('accounts', accountOptions)
    for (const step of [
      (tx: Transaction) => tx.get(ahead, 'a'),
      (tx: Transaction) => tx.create(ahead, 'a', account(2)),
      (tx: Transaction) => tx.put(ahead, 'b', account(2)),
      (tx: Transaction) => tx.delete(ahead, 'a'),
    ])
      await expect(older.transaction((tx) => void step(tx))).rejects.toMatchObject({ code: 'VERSION_AHEAD' })
  }))

test('a transaction sees what it wrote before, and takes no id for another one', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    const chain = engine.sequence('chain', Link)
    // As a key, half a surrogate pair is this character.
    await accounts.put('\ufffd', account(1))
    await engine.transaction((tx) => tx.delete(accounts, '\ud800'))
    expect(await engine.transaction((tx) => tx.get(accounts, '\ud800'))).toBeUndefined()
    for (const write of ['put', 'create'] as const)
      await expect(
        engine.transaction((tx) => tx[write](accounts, '\ud800', account(2))),
      ).rejects.toMatchObject({ code: 'ID_INVALID' })
    expect(await accounts.get('\ufffd')).toEqual(account(1))

    const ends = await engine.transaction((tx) => {
      tx.put(accounts, 'a', account(1))
      tx.delete(accounts, 'a')
      tx.create(accounts, 'a', account(2))
      const first = tx.append(chain, linkAfter)
      return [first, tx.append(chain, linkAfter), tx.end(chain)]
    })
    const second = { seq: 2, after: 1 }
    expect(ends).toEqual([{ seq: 1, after: 0 }, second, { seq: 2, entry: second }])
    expect(await accounts.get('a')).toEqual(account(2))
    await expect(
      engine.transaction((tx) => {
        tx.put(accounts, 'b', account(1))
        tx.create(accounts, 'b', account(2))
      }),
    ).rejects.toMatchObject({ code: 'ROW_EXISTS' })
  }))
