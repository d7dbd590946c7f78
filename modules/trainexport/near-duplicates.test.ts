import fc from 'fast-check'
import { expect, test } from 'vitest'
import { similarity } from '#kit'
import { NearDuplicates } from './near-duplicates.ts'

const word = fc.integer({ min: 0, max: 400 }).map((n) => `w${n}`)
const text = fc.array(word, { minLength: 30, maxLength: 80 })

test('a text is known again whatever its case and punctuation, and an unlike one is not', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const near = new NearDuplicates()
      expect(near.add(one.join(' '))).toBe(true)
      expect(near.add(`${one.join(', ').toUpperCase()}!`)).toBe(false)
      fc.pre(similarity(one.join(' '), other.join(' ')) < 0.4)
      expect(near.add(other.join(' '))).toBe(true)
    }),
  )
})

test('one changed word in a hundred makes no other text, and half of them do', () => {
  const words = Array.from({ length: 100 }, (_, n) => `word${n}`)
  for (let at = 0; at < 100; at += 7) {
    const near = new NearDuplicates()
    near.add(words.join(' '))
    expect(near.add(words.with(at, 'other').join(' '))).toBe(false)
    expect(near.add(words.map((one, n) => ((n + at) % 2 ? one : `x${one}`)).join(' '))).toBe(true)
  }
})

test('it finds each of many texts again, beyond the size that it began with', () => {
  const near = new NearDuplicates()
  const texts = Array.from({ length: 3000 }, (_, n) =>
    Array.from({ length: 12 }, (_, at) => `w${(n * 7919 + at * 104_729) % 99_991}`).join(' '),
  )
  for (const one of texts) expect(near.add(one)).toBe(true)
  for (const one of texts) expect(near.add(`${one}.`)).toBe(false)
  expect([near.add('🙂'), near.add('🙃'), near.add('🙂')]).toEqual([true, true, false])
})
