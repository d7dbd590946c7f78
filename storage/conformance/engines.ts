import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { collect, type OpenEngine, withEngine } from './harness.ts'

const Row = z.object({ n: z.number() })
const logOptions = { id: (row: { id: string }) => row.id, time: () => 1 }

/** What every engine must do as a whole. */
export function engineConformance(open: OpenEngine): void {
  describe('an engine', () => {
    test('closes once, after running operations and all that waits', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const rows = engine.collection('rows', { schema: Row })
        const log = engine.log('log', logOptions)
        const counters = await engine.counters('counters')
        const running = [rows.put('1', { n: 1 }), rows.update('2', () => ({ n: 2 }))]
        log.append({ id: 'x' })
        counters.add('c', 3)
        await Promise.all([engine.close(), engine.close(), ...running])
        await engine.close()
        const again = await reopen()
        expect(await again.collection('rows', { schema: Row }).count()).toBe(2)
        expect((await again.log('log', logOptions).list()).total).toBe(1)
        expect((await again.counters('counters')).get('c')).toBe(3)
      }))

    test('waits for a long operation before it closes', () =>
      withEngine(open, async ({ engine }) => {
        const log = engine.log('log', logOptions)
        for (let n = 0; n < 3000; n++) log.append({ id: `id${n}` })
        const erased = log.erase(({ id }) => id.endsWith('7'))
        await engine.close()
        expect(await erased).toBe(300)
      }))

    test('refuses everything when it is closed', () =>
      withEngine(open, async ({ engine }) => {
        const rows = engine.collection('rows', { schema: Row })
        const log = engine.log('log', logOptions)
        const sequence = engine.sequence('sequence', Row)
        const counters = await engine.counters('counters')
        await engine.close()
        const refused = { code: 'STORE_CLOSED' }
        await expect(rows.put('1', { n: 1 })).rejects.toMatchObject(refused)
        await expect(rows.list()).rejects.toMatchObject(refused)
        await expect(collect(rows.scan())).rejects.toMatchObject(refused)
        await expect(log.list()).rejects.toMatchObject(refused)
        await expect(collect(log.scan())).rejects.toMatchObject(refused)
        await expect(sequence.append(() => ({ n: 1 }))).rejects.toMatchObject(refused)
        await expect(collect(sequence.scan())).rejects.toMatchObject(refused)
        await expect(engine.flush()).rejects.toMatchObject(refused)
        expect(() => counters.add('c', 1)).toThrow(expect.objectContaining(refused))
        log.append({ id: 'x' })
        expect(log.status()).toMatchObject({ depth: 0, dropped: 1 })
      }))

    test('says what lies under a name, and erases it, and nothing beside it', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const fill = async (name: string) => {
          const part = engine.namespace('all').namespace(name)
          const rows = part.collection('rows', { schema: Row, indexes: { n: ({ n }) => n } })
          await rows.put('1', { n: 1 })
          const log = part.log('log', { ...logOptions, flushMs: 60_000 })
          for (let n = 0; n < 40; n++) log.append({ id: `${name}${n}` }, () => 'body')
          const sequence = part.namespace('deep').sequence('sequence', Row)
          await sequence.append(() => ({ n: 1 }))
          const counters = await part.counters('counters')
          counters.add('c', 3)
          return { rows, log, sequence, counters }
        }
        const contents = (name: string) => [
          { kind: 'collection', path: `all/${name}/rows`, entries: 1 },
          { kind: 'log', path: `all/${name}/log`, entries: 40 },
          { kind: 'sequence', path: `all/${name}/deep/sequence`, entries: 1 },
          { kind: 'counters', path: `all/${name}/counters`, entries: 1 },
        ]
        const { rows, log, sequence, counters } = await fill('a')
        await fill('a-b')
        expect(await engine.contents('all/a/')).toEqual(contents('a'))
        await engine.erase('all/a/')
        expect(await engine.contents('all/a/')).toEqual([])
        const refused = { code: 'STORE_CLOSED' }
        await expect(rows.put('2', { n: 1 })).rejects.toMatchObject(refused)
        await expect(sequence.append(() => ({ n: 1 }))).rejects.toMatchObject(refused)
        expect(() => counters.add('c', 1)).toThrow(expect.objectContaining(refused))
        log.append({ id: 'late' })
        await fill('a')
        expect(await engine.contents('all/a/')).toEqual(contents('a'))
        await engine.erase('all/a/')
        const again = await reopen()
        expect(await again.contents('all/')).toEqual(contents('a-b'))
        await again.erase('all/a-')
        expect(await again.contents('')).toEqual([])
      }))

    test('has a copy made of one moment, while it goes on', () =>
      withEngine(open, async ({ engine, folder }) => {
        const schema = { schema: Row, indexes: { n: ({ n }: { n: number }) => n % 3 } }
        const rows = engine.collection('rows', schema)
        const sequence = engine.sequence('sequence', Row)
        const log = engine.log('log', { ...logOptions, flushMs: 60_000 })
        const counters = await engine.counters('counters')
        let written = 0
        /** Each is acknowledged before the next is begun. */
        const write = async (): Promise<void> => {
          written += 1
          const n = written
          await rows.put(`row-${n}`, { n })
          await sequence.append((last) => ({ n: (last?.n ?? 0) + 1 }))
        }
        for (let n = 0; n < 20; n++) await write()
        for (let n = 0; n < 5000; n++) log.append({ id: `id${n}` }, () => `body ${n}`)
        counters.add('c', 3)
        const at = join(folder, 'copy')
        let isCopying = true
        const copied = engine.copyTo(at).finally(() => {
          isCopying = false
        })
        while (isCopying) await write()
        await copied
        const later = written
        await expect(engine.copyTo(at)).rejects.toThrow()

        const copy = await open(at)
        try {
          const count = await copy.collection('rows', schema).count()
          expect(count).toBeGreaterThanOrEqual(20)
          expect(count).toBeLessThanOrEqual(later)
          const ids = (await collect(copy.collection('rows', schema).scan())).map(([id]) => id)
          expect(ids.sort()).toEqual(Array.from({ length: count }, (_, n) => `row-${n + 1}`).sort())
          const last = await copy.sequence('sequence', Row).last()
          expect(count - last).toBeLessThanOrEqual(1)
          expect(count - last).toBeGreaterThanOrEqual(0)
          const page = await copy.log('log', logOptions).list({ limit: 1 })
          expect(page.total).toBe(5000)
          expect(await copy.log('log', logOptions).body('id4999')).toBe('body 4999')
          expect((await copy.counters('counters')).get('c')).toBe(3)
        } finally {
          await copy.close()
        }
      }))

    test('flushes what is below a namespace', () =>
      withEngine(open, async ({ engine }) => {
        const part = engine.namespace('part')
        const inside = part.namespace('deep').log('log', { ...logOptions, flushMs: 60_000 })
        const beside = engine.log('log', { ...logOptions, flushMs: 60_000 })
        inside.append({ id: 'x' })
        beside.append({ id: 'y' })
        await part.flush()
        expect([inside.status().depth, beside.status().depth]).toEqual([0, 1])
        await engine.flush()
        expect(beside.status().depth).toBe(0)
      }))
  })
}
