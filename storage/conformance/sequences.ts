import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { collect, type OpenEngine, withEngine } from './harness.ts'

const Entry = z.object({ seq: z.number(), after: z.number() })

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
        expect(await collect(ledger.scan())).toEqual([
          { seq: 1, after: 0 },
          { seq: 2, after: 1 },
        ])
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
