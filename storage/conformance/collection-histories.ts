import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CollectionModel, itemOptions } from './collection-model.ts'
import { type OpenEngine, withEngine } from './harness.ts'

/** Ids and texts that are prefixes of one another, hold separators, or sort differently as UTF-16. */
const trickyTexts = [
  'a',
  'ab',
  'a!',
  'a/b',
  'a b',
  'é',
  '\u{1F600}',
  '\uFFEE',
  'B',
  '0',
  '__proto__',
  '\u0001',
  'ab\u0002',
]
const aText = fc.constantFrom(...trickyTexts)
const anItem = fc.record(
  {
    label: fc.oneof(aText, fc.constant('with\0nul'), fc.constant('\u0001\u0001'), fc.constant('')),
    size: fc.oneof(
      fc.integer({ min: -3, max: 3 }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
    ),
    on: fc.boolean(),
    tags: fc.array(aText, { maxLength: 3 }),
  },
  { requiredKeys: ['label', 'tags'] },
)
const anOperation = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), id: aText, item: anItem }),
  fc.record({ kind: fc.constant('create' as const), id: aText, item: anItem }),
  fc.record({ kind: fc.constant('update' as const), id: aText, item: fc.option(anItem, { nil: undefined }) }),
  fc.record({ kind: fc.constant('delete' as const), id: aText }),
  fc.record({ kind: fc.constant('reopen' as const) }),
)

/** All operations of a collection, in any order. */
export function collectionHistories(open: OpenEngine): void {
  describe('a collection', () => {
    test('equals a simple model after every step of any history', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anOperation, { maxLength: 12 }), (operations) =>
          withEngine(open, async ({ engine, reopen }) => {
            let items = engine.collection('items', itemOptions)
            const model = new CollectionModel()
            for (const operation of operations) {
              switch (operation.kind) {
                case 'put':
                  await items.put(operation.id, operation.item)
                  model.rows.set(operation.id, operation.item)
                  break
                case 'create':
                  expect(await items.create(operation.id, operation.item)).toBe(!model.rows.has(operation.id))
                  if (!model.rows.has(operation.id)) model.rows.set(operation.id, operation.item)
                  break
                case 'update': {
                  const before = model.rows.get(operation.id)
                  const written = await items.update(operation.id, (row) => {
                    expect(row).toEqual(before)
                    return operation.item
                  })
                  expect(written).toEqual(operation.item)
                  if (operation.item) model.rows.set(operation.id, operation.item)
                  break
                }
                case 'delete':
                  expect(await items.delete(operation.id)).toBe(model.rows.delete(operation.id))
                  break
                case 'reopen':
                  items = (await reopen()).collection('items', itemOptions)
              }
              await model.checkWhole(items)
            }
            await model.check(items)
          }),
        ),
        { numRuns: 25 },
      )
    }, 120_000)
  })
}
