import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Collection, ListOptions } from '../index.ts'
import { Counter, type Item, itemOptions } from './collection-model.ts'
import { type OpenEngine, withEngine } from './harness.ts'

/** Ids of rows that stay, and of rows that come and go, so that each lies anywhere among the others. */
const stays = Array.from({ length: 9 }, (_, n) => `${n}-stays`)
const moves = Array.from({ length: 9 }, (_, n) => `${n}-moves`)
const itemOf = (id: string, n: number): Item => ({ label: id, size: n % 3, on: n % 2 === 0, tags: ['t'] })

const someListing = fc.constantFrom<ListOptions[]>(
  {},
  { from: '1', to: '8' },
  { index: 'label' },
  { index: 'label', from: '2' },
  { index: 'size' },
  { index: 'size', equals: 1 },
  { index: 'tag', equals: 't' },
  { index: 'pair', from: '1' },
  { index: 'triple', equals: 't' },
  { index: 'triple', equals: ['t', true], from: '0', to: '7' },
)
const someChanges = fc.array(
  fc.array(fc.record({ id: fc.constantFrom(...moves), n: fc.nat(5), isThere: fc.boolean() }), {
    maxLength: 4,
  }),
  { maxLength: 12 },
)

/** What a walk over all pages of a listing finds, whatever is changed in between. */
export function collectionPages(open: OpenEngine): void {
  describe('a collection', () => {
    test(
      'gives each row that stays once on the pages of a listing, whatever comes and goes in between',
      () =>
        withEngine(open, async ({ engine }) => {
          const items = engine.collection('items', itemOptions)
          for (const [n, id] of stays.entries()) await items.put(id, itemOf(id, n))
          const walk = async (options: ListOptions, between: () => Promise<void>) => {
            const labels: string[] = []
            let after: string | undefined
            do {
              const page = await items.list({ ...options, ...(after !== undefined && { after }) })
              labels.push(...page.items.map(({ label }) => label))
              after = page.next
              await between()
            } while (after !== undefined)
            return labels.filter((label) => stays.includes(label))
          }
          await fc.assert(
            fc.asyncProperty(
              someListing,
              fc.boolean(),
              fc.integer({ min: 1, max: 4 }),
              someChanges,
              async (listing, reverse, limit, changes) => {
                const whole = (await items.list({ ...listing, reverse })).items.map(({ label }) => label)
                const found = await walk({ ...listing, reverse, limit }, async () => {
                  await changeAll(items, changes.shift() ?? [])
                })
                expect(found).toEqual(whole.filter((label) => stays.includes(label)))
              },
            ),
            { numRuns: 40 },
          )
        }),
      60_000,
    )

    test('goes on behind every place of a range, in the order of the bytes of its texts', () =>
      withEngine(open, async ({ engine }) => {
        const items = engine.collection('items', itemOptions)
        // In UTF-16 the second comes before the first.
        const texts = ['\uffee', '\u{1f600}', '\u{1f601}']
        for (const [n, text] of texts.entries()) await items.put(text, itemOf(text, n))
        for (const listing of [{}, { index: 'label' }])
          for (const range of [{ from: texts[0]! }, { from: texts[0]!, to: '\u{1f602}' }]) {
            const found: string[] = []
            let after: string | undefined
            do {
              const page = await items.list({
                ...listing,
                ...range,
                limit: 1,
                ...(after !== undefined && { after }),
              })
              found.push(...page.items.map(({ label }) => label))
              after = page.next
            } while (after !== undefined)
            expect(found).toEqual(texts)
          }
      }))

    test('refuses what is no place in a listing, and ranges over what is not there', () =>
      withEngine(open, async ({ engine }) => {
        const items = engine.collection('items', itemOptions)
        const counters = engine.collection('counters', { schema: Counter })
        for (const id of ['a', 'b', 'c']) {
          await items.put(id, { label: id, size: 1, tags: ['t'] })
          await counters.put(id, { n: 1 })
        }
        await items.put('sz', { label: 'a', size: 1, tags: [] })
        const { next: byLabel } = await items.list({ index: 'label', limit: 1 })
        const { next: ofA } = await items.list({ index: 'size', equals: 1, limit: 1 })
        const { next: byId } = await items.list({ limit: 1, reverse: true })
        const refused: ListOptions[] = [
          { after: '' },
          { after: 'nonsense' },
          { after: byLabel! },
          { index: 'label', after: byId! },
          { index: 'size', equals: 2, after: ofA! },
          { from: 'a', to: 'b', after: byId! },
          { from: 1 },
          { index: 'size', from: Number.NaN },
          { index: 'size', from: 1, to: 'a' },
          { index: 'label', equals: 'a', from: 'a' },
          { index: 'pair', equals: ['a', 1], from: '' },
        ]
        for (const options of refused)
          await expect(items.list(options), JSON.stringify(options)).rejects.toMatchObject({
            code: 'QUERY_INVALID',
          })
        expect(await items.list({ after: byId!, reverse: true, limit: 5 })).toMatchObject({ total: 4 })
        expect((await counters.list({ from: 'b', to: 'z' })).total).toBe(2)
        expect(await items.list({ from: 'z', to: 'b' })).toEqual({ items: [], total: 0 })
      }))
  })
}

async function changeAll(
  items: Collection<Item>,
  changes: readonly { readonly id: string; readonly n: number; readonly isThere: boolean }[],
): Promise<void> {
  for (const { id, n, isThere } of changes) {
    if (isThere) await items.put(id, itemOf(id, n))
    else await items.delete(id)
  }
}
