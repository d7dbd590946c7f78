import { expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import { collect, withEngine } from '../conformance/harness.ts'
import type { Change } from '../index.ts'
import { openLevel } from '../level.ts'
import { accountOptions, newerAccountOptions } from './crash-parts.ts'

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

test('a shape that is asked for while the one before is being prepared is there for each that reads', () =>
  withEngine(openLevel, async ({ engine, reopen }) => {
    await engine.collection('accounts', accountOptions).put('a', account(1))
    const again = await reopen()
    again.collection('accounts', accountOptions)
    const accounts = again.collection('accounts', newerAccountOptions)
    const readings: Promise<unknown>[] = []
    for (let n = 0; n < 50; n++) {
      readings.push(
        accounts.get('a'),
        again.transaction((tx) => tx.get(accounts, 'a')),
      )
      await (n % 5 === 0 ? new Promise<void>((resolve) => setImmediate(resolve)) : undefined)
    }
    expect(new Set((await Promise.all(readings)).map((row) => JSON.stringify(row)))).toEqual(
      new Set([JSON.stringify({ ...account(1), currency: 'eur' })]),
    )
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
