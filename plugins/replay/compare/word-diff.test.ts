import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DiffPart, wordDiff } from './word-diff.ts'

const without = (parts: readonly DiffPart[], kind: DiffPart['kind']): string =>
  parts
    .filter((part) => part.kind !== kind)
    .map(({ text }) => text)
    .join('')

const edits = (parts: readonly DiffPart[]): number =>
  parts.reduce((sum, { kind, text }) => (kind === 'same' ? sum : sum + text.length / 2), 0)

/** The fewest words to remove and to add, by the table of common subsequences. */
function fewest(a: readonly string[], b: readonly string[]): number {
  let row = b.map((_, j) => j + 1)
  row.unshift(0)
  for (const [i, word] of a.entries()) {
    const next = [i + 1]
    for (const [j, other] of b.entries())
      next.push(word === other ? row[j]! : 1 + Math.min(row[j + 1]!, next[j]!))
    row = next
  }
  return row.at(-1)!
}

const words = fc.array(fc.constantFrom('a ', 'b ', 'c '), { maxLength: 30 })

test('its parts add up to both texts, whatever is in them', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    words.map((all) => all.join('')),
  )
  await fc.assert(
    fc.asyncProperty(text, text, async (before, after) => {
      const parts = await wordDiff(before, after)
      expect([without(parts, 'added'), without(parts, 'removed')]).toEqual([before, after])
      expect(parts.every(({ text }) => text !== '')).toBe(true)
    }),
  )
})

test('it has the fewest edits that there are', async () => {
  await fc.assert(
    fc.asyncProperty(words, words, async (a, b) => {
      expect(edits(await wordDiff(a.join(''), b.join('')))).toBe(fewest(a, b))
    }),
  )
})

test('it marks words, not letters, and characters where no spaces are', async () => {
  expect(await wordDiff('The sky is blue.', 'The sky is very grey.')).toEqual([
    { kind: 'same', text: 'The sky is ' },
    { kind: 'removed', text: 'blue' },
    { kind: 'added', text: 'very grey' },
    { kind: 'same', text: '.' },
  ])
  expect(await wordDiff('空は青い', '空は赤い')).toEqual([
    { kind: 'same', text: '空は' },
    { kind: 'removed', text: '青' },
    { kind: 'added', text: '赤' },
    { kind: 'same', text: 'い' },
  ])
})

test('a megabyte that differs everywhere is shown as replaced, and others get their turns', async () => {
  const [before, after] = ['ab ', 'cd '].map((word) => word.repeat(350_000)) as [string, string]
  let turns = 0
  const others = setInterval(() => {
    turns += 1
  }, 1)
  const parts = await wordDiff(before, after).finally(() => clearInterval(others))
  expect(turns).toBeGreaterThan(1)
  expect(parts.map(({ kind }) => kind)).toEqual(['removed', 'added'])
  expect([without(parts, 'added'), without(parts, 'removed')]).toEqual([before, after])
})
