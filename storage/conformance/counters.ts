import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type OpenEngine, withEngine } from './harness.ts'

const aName = fc.constantFrom('a', 'ab', 'a/b', 'b', 'é')
const anOperation = fc.oneof(
  fc.record({
    kind: fc.constant('add' as const),
    name: aName,
    amount: fc.integer({ min: -1000, max: 1000 }),
  }),
  fc.record({ kind: fc.constant('set' as const), name: aName, amount: fc.integer() }),
  fc.record({ kind: fc.constant('delete' as const), name: aName }),
  fc.record({ kind: fc.constant('clear' as const), name: fc.constantFrom('', 'a', 'a/') }),
  fc.record({ kind: fc.constant('flush' as const) }),
  fc.record({ kind: fc.constant('reopen' as const) }),
)

/** What every engine's counters must do. */
export function counterConformance(open: OpenEngine): void {
  describe('counters', () => {
    test('equal a map after every step of any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anOperation, { maxLength: 15 }), (operations) =>
          withEngine(open, async ({ engine, reopen }) => {
            let counters = await engine.counters('use')
            const model = new Map<string, number>()
            for (const operation of operations) {
              if (operation.kind === 'add') {
                counters.add(operation.name, operation.amount)
                model.set(operation.name, (model.get(operation.name) ?? 0) + operation.amount)
              } else if (operation.kind === 'set') {
                counters.set(operation.name, operation.amount)
                model.set(operation.name, operation.amount)
              } else if (operation.kind === 'delete') {
                counters.delete(operation.name)
                model.delete(operation.name)
              } else if (operation.kind === 'clear') {
                counters.clear(operation.name)
                for (const name of [...model.keys()]) if (name.startsWith(operation.name)) model.delete(name)
              } else if (operation.kind === 'flush') {
                await counters.flush()
              } else {
                counters = await (await reopen()).counters('use')
              }
              expect(counters.entries()).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)))
              expect(counters.entries('a')).toEqual(
                counters.entries().filter(([name]) => name.startsWith('a')),
              )
              expect(counters.get('ab')).toBe(model.get('ab') ?? 0)
            }
          }),
        ),
        { numRuns: 25 },
      )
    }, 60_000)

    test('are the same for all who ask for them', () =>
      withEngine(open, async ({ engine }) => {
        const [one, two] = await Promise.all([engine.counters('use'), engine.counters('use')])
        one.add('a', 2)
        two.add('a', 3)
        expect(one.get('a')).toBe(5)
      }))

    test('end where whole numbers end, and count on from there', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const counters = await engine.counters('use')
        for (let n = 0; n < 3; n++) counters.add('a', Number.MAX_SAFE_INTEGER)
        for (let n = 0; n < 3; n++) counters.add('b', Number.MIN_SAFE_INTEGER)
        expect([counters.get('a'), counters.get('b')]).toEqual([2 ** 53 - 1, 1 - 2 ** 53])
        const again = await (await reopen()).counters('use')
        again.add('a', -1)
        expect(again.get('a')).toBe(2 ** 53 - 2)
      }))

    test('refuse what is not an integer', () =>
      withEngine(open, async ({ engine }) => {
        const counters = await engine.counters('use')
        for (const amount of [0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
          const invalid = expect.objectContaining({ code: 'AMOUNT_INVALID' })
          expect(() => counters.add('a', amount)).toThrow(invalid)
          expect(() => counters.set('a', amount)).toThrow(invalid)
        }
        expect(counters.entries()).toEqual([])
      }))
  })
}
