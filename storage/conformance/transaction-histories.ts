import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Engine, Transaction } from '../index.ts'
import { CollectionModel, Counter, type Item, itemOptions } from './collection-model.ts'
import { collect, type OpenEngine, withEngine } from './harness.ts'

const anId = fc.constantFrom('a', 'b', 'c', 'é')
const anItem = fc.record({
  label: fc.constantFrom('x', 'y', 'with\0nul'),
  size: fc.integer({ min: 0, max: 2 }),
  tags: fc.array(fc.constantFrom('s', 't'), { maxLength: 2 }),
})
const aStep = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), id: anId, item: anItem }),
  fc.record({ kind: fc.constant('create' as const), id: anId, item: anItem }),
  fc.record({ kind: fc.constant('update' as const), id: anId, item: fc.option(anItem, { nil: undefined }) }),
  fc.record({ kind: fc.constant('delete' as const), id: anId }),
  fc.record({ kind: fc.constant('require' as const), id: anId, holds: fc.boolean() }),
  fc.record({ kind: fc.constant('count' as const), id: anId }),
  fc.record({ kind: fc.constant('append' as const) }),
)
const aTransaction = fc.record({
  steps: fc.array(aStep, { maxLength: 6 }),
  end: fc.constantFrom('well', 'well', 'well', 'throws', 'reopen'),
})

type Step = typeof aStep extends fc.Arbitrary<infer S> ? S : never

/** What the store should hold: a collection with indexes, one without, and a sequence. */
class Model {
  readonly items = new CollectionModel()
  counts = new Map<string, number>()
  entries: number[] = []

  copy(): Model {
    const copy = new Model()
    for (const [id, row] of this.items.rows) copy.items.rows.set(id, row)
    copy.counts = new Map(this.counts)
    copy.entries = [...this.entries]
    return copy
  }
}

const partsOf = (engine: Engine) => ({
  items: engine.collection('items', itemOptions),
  counts: engine.namespace('deep').collection('counts', { schema: Counter }),
  ledger: engine.sequence('ledger', Counter),
})

/** Does a step to both; what the transaction reads must be what the model has. Throws when the step refuses. */
function step(tx: Transaction, parts: ReturnType<typeof partsOf>, model: Model, one: Step): void {
  const { rows } = model.items
  switch (one.kind) {
    case 'put':
      tx.put(parts.items, one.id, one.item)
      rows.set(one.id, one.item)
      break
    case 'create':
      tx.create(parts.items, one.id, one.item)
      if (rows.has(one.id)) throw new Error('the id was taken')
      rows.set(one.id, one.item)
      break
    case 'update': {
      const before: Item | undefined = rows.get(one.id)
      const written = tx.update(parts.items, one.id, (row) => {
        expect(row).toEqual(before)
        return one.item
      })
      expect(written).toEqual(one.item)
      if (one.item) rows.set(one.id, one.item)
      break
    }
    case 'delete':
      tx.delete(parts.items, one.id)
      rows.delete(one.id)
      break
    case 'require':
      tx.require(parts.items, one.id, (row) => {
        expect(row).toEqual(rows.get(one.id))
        return one.holds
      })
      break
    case 'count': {
      const n = (model.counts.get(one.id) ?? 0) + 1
      expect(tx.get(parts.counts, one.id)).toEqual(n === 1 ? undefined : { n: n - 1 })
      tx.put(parts.counts, one.id, { n })
      model.counts.set(one.id, n)
      break
    }
    case 'append': {
      const before = model.entries.at(-1)
      const made = tx.append(parts.ledger, (previous, seq) => {
        expect([previous?.n, seq]).toEqual([before, model.entries.length + 1])
        return { n: (previous?.n ?? 0) * 3 + seq }
      })
      model.entries.push(made.n)
      expect(tx.end(parts.ledger)).toEqual({ seq: model.entries.length, entry: made })
    }
  }
}

/** All kinds of transactions, in any order. */
export function transactionHistories(open: OpenEngine): void {
  describe('a transaction', () => {
    test('is made as a whole or not at all, and sees its own changes, in any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(aTransaction, { maxLength: 8 }), (transactions) =>
          withEngine(open, async ({ engine, reopen }) => {
            let current = engine
            let parts = partsOf(engine)
            let model = new Model()
            for (const { steps, end } of transactions) {
              let after = model
              const isTaken = steps.some(({ kind }) => kind === 'create')
              const result = await current
                .transaction((tx) => {
                  after = model.copy()
                  for (const one of steps) step(tx, parts, after, one)
                  if (end === 'throws') throw new Error('refused in the end')
                  return steps.length
                })
                .then((value) => ({ value }))
                .catch((error) => ({ error }))
              if ('value' in result) {
                expect([result.value, end]).not.toContain('throws')
                model = after
              } else if (result.error.message !== 'refused in the end') {
                expect(['ROW_EXISTS', 'REQUIREMENT_FAILED']).toContain(result.error.code)
                if (result.error.code === 'ROW_EXISTS') expect(isTaken).toBe(true)
                else expect(steps.some((one) => one.kind === 'require' && !one.holds)).toBe(true)
              }
              if (end === 'reopen') {
                current = await reopen()
                parts = partsOf(current)
              }
              await model.items.checkWhole(parts.items)
              const counts = await collect(parts.counts.scan())
              expect(new Map(counts.map(([id, { n }]) => [id, n]))).toEqual(model.counts)
              expect((await collect(parts.ledger.scan())).map(({ n }) => n)).toEqual(model.entries)
            }
            await model.items.check(parts.items)
          }),
        ),
        { numRuns: 25 },
      )
    }, 120_000)
  })
}
