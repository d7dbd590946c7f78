import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { letsOthersIn } from '../../../test/lets-others-in.ts'
import { CollectionIndex } from '../library/index-of-collection.ts'
import { Bm25 } from './bm25.ts'
import { fused } from './fusion.ts'
import { labelled, manual } from './labelled.test-data.ts'
import { termsOf } from './terms.ts'

describe('the passages of a question', () => {
  const index = new CollectionIndex()
  beforeAll(() =>
    index.put({ id: 'manual', format: 'markdown', updated_at: '' }, { title: 'Manual', text: manual }),
  )

  test.each(labelled)('"%s" finds the part %s first', (question, part) => {
    expect(index.search(question, 5)[0]?.path.at(-1)).toBe(part)
  })

  test('there are none for a question without a word of the collection', () => {
    expect(index.search('xylophone', 5)).toEqual([])
  })

  test('others have their turn while a long document is taken in', async () => {
    const long = new CollectionIndex()
    // Each of these characters has eighteen letters in the form that terms are told apart by.
    const text = '\ufdfa'.repeat(200_000)
    const all = long.put({ id: 'long', format: 'text', updated_at: '' }, { title: 'Long', text })
    expect(await letsOthersIn(all)).toBe(true)
    expect(long.search('long', 200)).toHaveLength(167)
    long.delete('long')
    expect(long.search('long', 200)).toEqual([])
  })
})

describe('BM25', () => {
  const word = fc.constantFrom('ant', 'bee', 'cat', 'dog', 'elk')
  const text = fc.array(word, { minLength: 1, maxLength: 6 })
  const texts = fc.array(text, { minLength: 1, maxLength: 8 })
  const rankedIn = (ranking: Bm25, query: readonly string[]) => ranking.search(query, 100)

  test('what was deleted or replaced leaves nothing behind', () => {
    fc.assert(
      fc.property(texts, texts, text, (stay, go, query) => {
        const [one, other] = [new Bm25(), new Bm25()]
        for (const [at, terms] of go.entries()) one.add(`${at}`, terms)
        for (const [at, terms] of stay.entries()) one.add(`${at}`, terms)
        for (let at = stay.length; at < go.length; at += 1) one.delete(`${at}`)
        for (const [at, terms] of stay.entries()) other.add(`${at}`, terms)
        expect(rankedIn(one, query)).toEqual(rankedIn(other, query))
      }),
    )
  })

  test('it finds exactly the passages with a term of the query, best first', () => {
    fc.assert(
      fc.property(texts, text, (all, query) => {
        const ranking = new Bm25()
        for (const [at, terms] of all.entries()) ranking.add(`${at}`, terms)
        const found = rankedIn(ranking, query)
        const wanted = all.flatMap((terms, at) =>
          terms.some((term) => query.includes(term)) ? [`${at}`] : [],
        )
        expect(found.map(({ id }) => id).sort()).toEqual(wanted)
        expect(found.every(({ score }, at) => score > 0 && score <= (found[at - 1]?.score ?? score))).toBe(
          true,
        )
      }),
    )
  })

  test('a rare term counts more than a usual one', () => {
    const ranking = new Bm25()
    ranking.add('usual', termsOf('the cat'))
    ranking.add('rare', termsOf('the elk'))
    ranking.add('other', termsOf('a cat'))
    expect(rankedIn(ranking, termsOf('cat or elk'))[0]?.id).toBe('rare')
  })
})

test('what several lists have high comes first', () => {
  const merged = fused(
    [
      ['a', 'b', 'c'],
      ['b', 'd'],
    ],
    (id) => id,
  ).map(({ item }) => item)
  expect(merged).toEqual(['b', 'a', 'd', 'c'])
})

test('terms have no letter case, accents or plurals of English', () => {
  expect(termsOf('Ärzte, Apples and GLASS')).toEqual(['arzte', 'apple', 'and', 'glass'])
})
