import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Finder, findAll } from './find-all.ts'

interface Named {
  readonly start: number
  readonly end: number
  readonly name: string
}

function finder(pattern: RegExp): Finder<Named> {
  const sought = new RegExp(pattern, 'g')
  return (text, from) => {
    sought.lastIndex = from
    const match = sought.exec(text)
    return match
      ? { start: match.index, end: match.index + match[0].length, name: pattern.source }
      : undefined
  }
}

const patterns = [/aa?/, /ab{1,2}/, /b[ab]b/, /ba/]
const finders = patterns.map(finder)
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 40 })

/** The same, said naively: at each place the first pattern that fits there. */
function naively(text: string, from: number): Named[] {
  const found: Named[] = []
  for (let at = from; at < text.length; ) {
    const hit = finders.map((find) => find(text, at)).find((candidate) => candidate?.start === at)
    if (hit) found.push(hit)
    at = hit ? hit.end : at + 1
  }
  return found
}

test('finders together find the earliest, then the earliest after its end; the first finder wins a tie', () => {
  fc.assert(
    fc.property(texts, fc.nat({ max: 10 }), (text, from) => {
      expect(findAll(finders, text, from)).toEqual(naively(text, from))
    }),
  )
})

test('finding goes on from where a finding ended as if it had started there', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const all = findAll(finders, text)
      for (const [i, { end }] of all.entries()) expect(findAll(finders, text, end)).toEqual(all.slice(i + 1))
    }),
  )
})

test('many findings that overlap are found in linear time', () => {
  const text = 'ab'.repeat(100_000)
  const started = performance.now()
  expect(findAll(finders, text).length).toBeGreaterThan(50_000)
  expect(performance.now() - started).toBeLessThan(2000)
})
