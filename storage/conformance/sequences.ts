import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { collect, type OpenEngine, withEngine } from './harness.ts'

const Entry = z.object({ seq: z.number(), after: z.number() })
/** An entry that names its writer, and so the entry it was made from. */
const Linked = z.object({ name: z.string(), after: z.string() })

const next = (previous: z.infer<typeof Entry> | undefined, seq: number) => ({
  seq,
  after: previous?.seq ?? 0,
})

/** What every engine's sequences must do. */
export function sequenceConformance(open: OpenEngine): void {
  describe('a sequence', () => {
    test('has no gap and no fork when many append at once, and goes on after reopening', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const ledger = engine.sequence('ledger', Entry)
        const made = await Promise.all(Array.from({ length: 500 }, () => ledger.append(next)))
        expect(made.map(({ seq }) => seq)).toEqual(Array.from({ length: 500 }, (_, n) => n + 1))
        const again = (await reopen()).sequence('ledger', Entry)
        await Promise.all([again.append(next), engine.name, again.append(next)])
        const entries = await collect(again.scan())
        expect(entries).toEqual(Array.from({ length: 502 }, (_, n) => ({ seq: n + 1, after: n })))
        expect(await again.last()).toBe(502)
      }))

    test('is one sequence for all handles of its name', () =>
      withEngine(open, async ({ engine }) => {
        const handles = [engine.sequence('ledger', Entry), engine.sequence('ledger', Entry)]
        await Promise.all(Array.from({ length: 100 }, (_, n) => handles[n % 2]?.append(next)))
        expect((await collect(engine.sequence('ledger', Entry).scan())).map(({ after }) => after)).toEqual(
          Array.from({ length: 100 }, (_, n) => n),
        )
      }))

    test('takes entries by the schema of the newest handle', () =>
      withEngine(open, async ({ engine }) => {
        const ledger = engine.sequence('ledger', Entry)
        await ledger.append(next)
        const linked = engine.sequence('ledger', Linked)
        await expect(ledger.append(next)).rejects.toMatchObject({ code: 'ROW_INVALID' })
        expect(await linked.append(() => ({ name: 'b', after: 'a' }))).toEqual({ name: 'b', after: 'a' })
        expect(await ledger.last()).toBe(2)
      }))

    test('appends nothing when an entry cannot be made or does not fit', () =>
      withEngine(open, async ({ engine }) => {
        const ledger = engine.sequence('ledger', Entry)
        const wrong: unknown = { seq: 'one' }
        const results = await Promise.allSettled([
          ledger.append(next),
          ledger.append(() => {
            throw new Error('no')
          }),
          ledger.append(() => wrong as z.infer<typeof Entry>),
          ledger.append(next),
        ])
        expect(results.map(({ status }) => status)).toEqual([
          'fulfilled',
          'rejected',
          'rejected',
          'fulfilled',
        ])
        expect(results[2]).toMatchObject({ reason: { code: 'ROW_INVALID' } })
        expect(await collect(ledger.scan())).toEqual([
          { seq: 1, after: 0 },
          { seq: 2, after: 1 },
        ])
      }))

    test('writes what is queued in its order, each entry made from the one before, and shows it to reads', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const ledger = engine.sequence('ledger', Entry)
        const order: number[] = []
        for (let n = 0; n < 1200; n++)
          ledger.queue((previous, seq) => {
            order.push(n)
            return next(previous, seq)
          })
        expect(ledger.status().depth).toBeGreaterThan(0)
        expect(await collect(ledger.scan())).toEqual(
          Array.from({ length: 1200 }, (_, n) => ({ seq: n + 1, after: n })),
        )
        expect(ledger.status()).toEqual({ depth: 0, dropped: 0 })
        expect(order).toEqual(Array.from(order.keys()))
        ledger.queue(next)
        expect(await ledger.last()).toBe(1201)
        ledger.queue(next)
        expect(await ledger.get(1202)).toEqual({ seq: 1202, after: 1201 })
        ledger.queue(next)
        await ledger.flush()
        expect(ledger.status().depth).toBe(0)
        ledger.queue(next)
        await engine.flush()
        expect(ledger.status().depth).toBe(0)
        ledger.queue(next)
        const again = (await reopen()).sequence('ledger', Entry)
        expect(await again.last()).toBe(1205)
        expect(ledger.queue(next)).toBe(false)
        expect(ledger.status()).toEqual({ depth: 0, dropped: 1 })
      }))

    test('has no gap and no fork whoever appends and queues, and writes by itself', () =>
      withEngine(open, async ({ engine }) => {
        const ledger = engine.sequence('ledger', Entry)
        const appended = Array.from({ length: 100 }, (_, n) => {
          ledger.queue(next)
          return n % 3 ? ledger.append(next) : engine.transaction((tx) => tx.append(ledger, next))
        })
        await Promise.all(appended)
        await expect.poll(() => ledger.status().depth, { timeout: 10_000 }).toBe(0)
        expect(await collect(ledger.scan())).toEqual(
          Array.from({ length: 200 }, (_, n) => ({ seq: n + 1, after: n })),
        )
      }))

    test('has each entry once, made from the one that stands before it, whoever appends and how', () =>
      withEngine(open, async ({ engine }) => {
        const ledger = engine.sequence('linked', Linked)
        const made = (name: string) => (previous: z.infer<typeof Linked> | undefined) => ({
          name,
          after: previous?.name ?? 'none',
        })
        await Promise.all(
          Array.from({ length: 150 }, (_, n) => {
            ledger.queue(made(`queued ${n}`))
            if (n % 3 === 0) return ledger.append(made(`appended ${n}`))
            return n % 3 === 1
              ? engine.transaction((tx) => tx.append(ledger, made(`changed ${n}`)))
              : undefined
          }),
        )
        const entries = await collect(ledger.scan())
        expect(entries.map(({ after }) => after)).toEqual(
          ['none', ...entries.map(({ name }) => name)].slice(0, -1),
        )
        expect(new Set(entries.map(({ name }) => name)).size).toBe(250)
        expect(entries).toHaveLength(250)
      }))

    test('drops and counts queued entries that cannot be made or do not fit', () =>
      withEngine(open, async ({ engine }) => {
        const ledger = engine.sequence('ledger', Entry)
        const wrong: unknown = { seq: 'one' }
        ledger.queue(next)
        ledger.queue(() => {
          throw new Error('no')
        })
        ledger.queue(() => wrong as z.infer<typeof Entry>)
        ledger.queue(next)
        expect(await collect(ledger.scan())).toEqual([
          { seq: 1, after: 0 },
          { seq: 2, after: 1 },
        ])
        expect(ledger.status()).toEqual({ depth: 0, dropped: 2 })
      }))

    test('drops and counts queued entries that have no room', () =>
      withEngine(open, async ({ engine }) => {
        const full = engine.sequence('full', Entry)
        const no = new Error('no')
        const fail = () => {
          throw no
        }
        // Every ten thousandth is written: to write all of them takes a second, and shows no more of the room.
        const make = (n: number) => (n % 10_000 === 0 ? next : fail)
        const taken = Array.from({ length: 50_010 }, (_, n) => full.queue(make(n))).filter(Boolean)
        expect(taken).toHaveLength(50_000)
        expect(full.status()).toEqual({ depth: 50_000, dropped: 10 })
        expect(await full.last()).toBe(5)
        expect(full.status()).toEqual({ depth: 0, dropped: 10 + 49_995 })
      }))

    test('answers single entries and ranges', () =>
      withEngine(open, async ({ engine }) => {
        const ledger = engine.sequence('ledger', Entry)
        expect(await ledger.last()).toBe(0)
        expect(await collect(ledger.scan())).toEqual([])
        await Promise.all(Array.from({ length: 20 }, () => ledger.append(next)))
        expect(await ledger.get(17)).toEqual({ seq: 17, after: 16 })
        expect(await ledger.get(0)).toBeUndefined()
        expect(await ledger.get(21)).toBeUndefined()
        expect((await collect(ledger.scan(3, 6))).map(({ seq }) => seq)).toEqual([3, 4, 5])
        expect((await collect(ledger.scan(19))).map(({ seq }) => seq)).toEqual([19, 20])
        expect(await collect(ledger.scan(6, 3))).toEqual([])
      }))
  })
}
