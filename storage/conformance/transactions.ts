import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Collection, Engine, Sequence, Transaction } from '../index.ts'
import { Counter, itemOptions } from './collection-model.ts'
import { collect, type OpenEngine, withEngine } from './harness.ts'
import { transactionHistories } from './transaction-histories.ts'

const Account = z.object({ balance: z.number().min(0) })
const Transfer = z.object({ seq: z.number(), from: z.string(), to: z.string(), amount: z.number() })

/** What every engine's transactions must do. */
export function transactionConformance(open: OpenEngine): void {
  transactionHistories(open)
  describe('a transaction', () => {
    test('moves what many move at once, and nothing is lost, made or seen half', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const { accounts, ledger } = bankOf(engine)
        const ids = Array.from({ length: 5 }, (_, n) => `account${n}`)
        await Promise.all(ids.map((id) => accounts.put(id, { balance: 20 })))
        const transfer = (from: string, to: string, amount: number) =>
          engine.transaction((tx) => {
            tx.require(accounts, from, (row) => row !== undefined && row.balance >= amount)
            tx.update(accounts, from, (row) => row && { balance: row.balance - amount })
            tx.update(accounts, to, (row) => row && { balance: row.balance + amount })
            return tx.append(ledger, (_, seq) => ({ seq, from, to, amount })).seq
          })
        const sums: number[] = []
        const look = async () => {
          const { items } = await accounts.list()
          sums.push(items.reduce((sum, { balance }) => sum + balance, 0))
        }
        const results = await Promise.allSettled(
          Array.from({ length: 120 }, async (_, n) => {
            const made = transfer(ids[n % 5]!, ids[(n * 3 + 1) % 5]!, (n % 4) * 5)
            if (n % 10 === 0) await look()
            return made
          }),
        )
        const made = results.filter(({ status }) => status === 'fulfilled')
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason.code).toBe('REQUIREMENT_FAILED')
        expect(new Set(sums)).toEqual(new Set([100]))
        const again = bankOf(await reopen())
        const entries = await collect(again.ledger.scan())
        expect(entries.map(({ seq }) => seq)).toEqual(made.map((_, at) => at + 1))
        const expected = new Map(ids.map((id) => [id, 20]))
        for (const { from, to, amount } of entries) {
          expected.set(from, expected.get(from)! - amount)
          expected.set(to, expected.get(to)! + amount)
        }
        for (const id of ids) expect(await again.accounts.get(id)).toEqual({ balance: expected.get(id) })
      }))

    test('shares rows with single writes: no update of either is lost', () =>
      withEngine(open, async ({ engine }) => {
        const counters = engine.collection('counters', { schema: Counter })
        const add = (row: { n: number } | undefined) => ({ n: (row?.n ?? 0) + 1 })
        await Promise.all(
          Array.from({ length: 200 }, (_, n) =>
            n % 2 ? counters.update('one', add) : engine.transaction((tx) => tx.update(counters, 'one', add)),
          ),
        )
        expect(await counters.get('one')).toEqual({ n: 200 })
      }))

    test('lets one of many have an id, and refuses the others with all they do', () =>
      withEngine(open, async ({ engine }) => {
        const names = engine.collection('names', { schema: Counter })
        const owners = engine.namespace('deep').collection('owners', { schema: Counter })
        const results = await Promise.allSettled(
          Array.from({ length: 30 }, (_, n) =>
            engine.transaction((tx) => {
              tx.put(owners, `owner${n}`, { n })
              tx.create(names, 'name', { n })
            }),
          ),
        )
        const won = results.flatMap(({ status }, n) => (status === 'fulfilled' ? [n] : []))
        expect(won).toHaveLength(1)
        for (const result of results)
          if (result.status === 'rejected') expect(result.reason.code).toBe('ROW_EXISTS')
        expect(await names.get('name')).toEqual({ n: won[0] })
        expect((await owners.list()).items).toEqual([{ n: won[0] }])
      }))

    test('may make ids that are others each time it runs', () =>
      withEngine(open, async ({ engine }) => {
        const rows = engine.collection('rows', { schema: Counter })
        const id = await engine.transaction((tx) => {
          const made = crypto.randomUUID()
          tx.create(rows, made, { n: (tx.get(rows, 'one')?.n ?? 0) + 1 })
          return made
        })
        expect(await rows.get(id)).toEqual({ n: 1 })
        expect(await rows.count()).toBe(1)
      }))

    test('tells those who watch of each row once, as it is in the end, when all of it can be read', () =>
      withEngine(open, async ({ engine }) => {
        const first = engine.collection('first', { schema: Counter })
        const second = engine.collection('second', { schema: Counter })
        const heard: unknown[] = []
        const reading: Promise<unknown>[] = []
        first.watch((change) => {
          heard.push(change)
          reading.push(second.get('b'))
        })
        second.watch((change) => heard.push(change))
        await first.put('gone', { n: 1 })
        await engine.transaction((tx) => {
          for (const n of [1, 2, 3]) tx.put(first, 'a', { n })
          tx.delete(first, 'gone')
          tx.delete(first, 'never there')
          tx.put(second, 'b', { n: 9 })
        })
        await expect(
          engine.transaction((tx) => {
            tx.put(first, 'a', { n: 7 })
            throw new Error('no')
          }),
        ).rejects.toThrow('no')
        expect(heard).toEqual([
          { id: 'gone', row: { n: 1 } },
          { id: 'a', row: { n: 3 } },
          { id: 'gone', row: undefined },
          { id: 'b', row: { n: 9 } },
        ])
        expect((await Promise.all(reading)).slice(1)).toEqual([{ n: 9 }, { n: 9 }])
      }))

    test('is refused by the first thing that goes wrong in it, also when that is caught', () =>
      withEngine(open, async ({ engine }) => {
        const rows = engine.collection('rows', { schema: Counter })
        const ledger = engine.sequence('ledger', Counter)
        await rows.put('taken', { n: 1 })
        const wrong: unknown = { n: 'one' }
        const refusals: Record<string, (tx: Transaction) => void> = {
          ROW_EXISTS: (tx) => tx.create(rows, 'taken', { n: 2 }),
          REQUIREMENT_FAILED: (tx) => tx.require(rows, 'taken', (row) => row?.n === 2),
          ROW_INVALID: (tx) => tx.put(rows, 'b', wrong as { n: number }),
          ID_INVALID: (tx) => tx.put(rows, '', { n: 1 }),
        }
        for (const [code, refused] of Object.entries(refusals)) {
          const written = engine.transaction((tx) => {
            tx.put(rows, 'a', { n: 1 })
            tx.append(ledger, () => ({ n: 1 }))
            try {
              refused(tx)
            } catch {}
            tx.put(rows, 'c', { n: 1 })
          })
          await expect(written).rejects.toMatchObject({ code })
        }
        expect((await rows.list()).items).toEqual([{ n: 1 }])
        expect(await ledger.last()).toBe(0)
      }))

    test('that throws in the end writes nothing of what it made, and is refused by what came first', () =>
      withEngine(open, async ({ engine }) => {
        const rows = engine.collection('rows', { schema: Counter })
        await rows.put('taken', { n: 1 })
        const ends = (id: string) =>
          engine.transaction((tx) => {
            tx.put(rows, 'a', { n: 1 })
            tx.delete(rows, 'taken')
            tx.create(rows, 'b', { n: 1 })
            tx.create(rows, id, { n: 1 })
            throw new Error('no')
          })
        await expect(ends('c')).rejects.toThrow('no')
        await expect(ends('b')).rejects.toMatchObject({ code: 'ROW_EXISTS' })
        expect((await rows.list()).items).toEqual([{ n: 1 }])
        expect(await rows.get('taken')).toEqual({ n: 1 })
        const refused = engine.transaction((tx) => {
          tx.create(rows, 'taken', { n: 2 })
          throw new Error('no')
        })
        await expect(refused).rejects.toMatchObject({ code: 'ROW_EXISTS' })
        await engine.transaction((tx) => {
          tx.delete(rows, 'taken')
          tx.create(rows, 'taken', { n: 3 })
          tx.delete(rows, 'never there')
          tx.create(rows, 'gone', { n: 1 })
          tx.delete(rows, 'gone')
        })
        expect(await collect(rows.scan())).toEqual([['taken', { n: 3 }]])
      }))

    test('refuses what is no part of a store, or one of another kind', () =>
      withEngine(open, async ({ engine }) => {
        const rows = engine.collection('rows', { schema: Counter })
        const ledger = engine.sequence('ledger', Counter)
        const refused = { code: 'QUERY_INVALID' }
        for (const handle of [ledger, {}] as unknown as Collection<unknown>[])
          await expect(engine.transaction((tx) => tx.get(handle, 'a'))).rejects.toMatchObject(refused)
        for (const handle of [rows, {}] as unknown as Sequence<unknown>[])
          await expect(engine.transaction((tx) => tx.end(handle))).rejects.toMatchObject(refused)
      }))

    test('is not asynchronous, does not outlive its function, and keeps to one store', () =>
      withEngine(open, (mine) =>
        withEngine(open, async ({ engine: other }) => {
          const { engine } = mine
          const refused = { code: 'QUERY_INVALID' }
          const rows = engine.collection('rows', { schema: Counter })
          const theirs = other.collection('rows', { schema: Counter })
          await theirs.put('a', { n: 1 })
          await rows.put('before', { n: 1 })
          const later = engine.transaction(async (tx) => tx.put(rows, 'a', { n: 1 }))
          await expect(later).rejects.toMatchObject(refused)
          await expect(engine.transaction((tx) => tx.get(theirs, 'a'))).rejects.toMatchObject(refused)
          await expect(
            engine.transaction((tx) => tx.end(other.sequence('ledger', Counter))),
          ).rejects.toMatchObject(refused)
          let kept: Transaction | undefined
          await engine.transaction((tx) => {
            kept = tx
          })
          expect(() => kept!.put(rows, 'a', { n: 1 })).toThrow(expect.objectContaining(refused))
          expect(await rows.count()).toBe(1)
        }),
      ))

    test('is no change by what is done to the rows that it read', () =>
      withEngine(open, async ({ engine }) => {
        const rows = engine.collection('rows', { schema: Counter })
        await rows.put('a', { n: 1 })
        await engine.transaction((tx) => {
          tx.get(rows, 'a')!.n = 7
          tx.put(rows, 'b', { n: 1 })
          tx.get(rows, 'b')!.n = 7
          tx.update(rows, 'b', (row) => {
            row!.n = 8
            return undefined
          })
          tx.update(rows, 'c', () => ({ n: 1 }))!.n = 7
        })
        expect((await rows.list()).items).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }])
      }))

    test('finds its collections closed when the store is, or when they were erased', () =>
      withEngine(open, async ({ engine }) => {
        const rows = engine.namespace('gone').collection('rows', { schema: Counter })
        const other = engine.collection('rows', { schema: Counter })
        await rows.put('a', { n: 1 })
        await other.count()
        await engine.erase('gone/')
        const write = () =>
          engine.transaction((tx) => {
            tx.put(other, 'a', { n: 1 })
            tx.put(rows, 'a', { n: 1 })
          })
        await expect(write()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
        expect(await other.create('a', { n: 2 })).toBe(true)
        await engine.close()
        await expect(engine.transaction(() => {})).rejects.toMatchObject({ code: 'STORE_CLOSED' })
      }))

    test('has rows of an older version brought up before it reads them', () =>
      withEngine(open, async ({ engine, reopen }) => {
        await engine.collection('items', { schema: Counter }).put('a', { n: 1 })
        const again = await reopen()
        const items = again.collection('items', {
          ...itemOptions,
          version: 2,
          migrate: (row) => ({ label: `n${Counter.parse(row).n}`, tags: ['old'] }),
        })
        const label = await again.transaction((tx) => {
          tx.put(items, 'b', { label: 'new', tags: ['old'] })
          return tx.get(items, 'a')?.label
        })
        expect(label).toBe('n1')
        expect((await items.list({ index: 'tag', equals: 'old' })).total).toBe(2)
      }))
  })
}

function bankOf(engine: Engine) {
  return {
    accounts: engine.collection('accounts', { schema: Account }),
    ledger: engine.namespace('books').sequence('ledger', Transfer),
  }
}
