import { createRequire } from 'node:module'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import type { Detection } from '../../kernel/detect/detect.ts'
import { cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { findAll } from './find-all.ts'
import { isPattern, patternFinder } from './pattern.ts'

test('a pattern is one that runs without backtracking', () => {
  expect(['a+b', '(?i)key-\\d{3}', '\\bx\\b'].map(isPattern)).toEqual([true, true, true])
  expect(['(', '(?=a)', '(a)\\1'].map(isPattern)).toEqual([false, false, false])
})

test('finds what matches, where words begin and end, nothing empty, and the beginning of what is too long', () => {
  const found = (source: string, text: string) => findAll([patternFinder(source, 5)], text)
  expect(found('\\bab+', 'xab ab abbb abbbbbb')).toEqual([
    { start: 4, end: 6 },
    { start: 7, end: 11 },
    { start: 12, end: 16 },
  ])
  expect(found('\\w+', 'abcdefg')).toEqual([
    { start: 0, end: 4 },
    { start: 4, end: 7 },
  ])
  expect(found('abcd\\b', 'abcde')).toEqual([])
  expect(found('b*', 'abba')).toEqual([{ start: 1, end: 3 }])
})

test('finds the same in a stream as in the whole, even with patterns that have no end', () => {
  const longest = 8
  const patterns = ['a.*b', 'ab+', '[^c]c', '(a|b c)+', '\\ba', 'c$']
  const detectionOf = (source: string): Detection => ({
    reach: longest,
    scan: (text, _place, _call, from) =>
      findAll([patternFinder(source, longest)], text, from).map((span) => {
        return { ...span, label: source, action: 'replace', replacement: '<>' }
      }),
  })
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '\n'), maxLength: 40 })
  fc.assert(
    fc.property(fc.constantFrom(...patterns), cutText(texts), (source, parts) => {
      const detection = detectionOf(source)
      expect(piecesThrough(parts, [detection]).join('')).toBe(redactedWhole(parts.join(''), [detection]))
    }),
    runs(2000),
  )
})

test('finds everything in a text of many parts', () => {
  const long = fc.string({
    unit: fc.constantFrom('a', 'b', ' '),
    minLength: 9000,
    maxLength: 14_000,
    size: 'max',
  })
  fc.assert(
    fc.property(long, (text) => {
      const wanted = Array.from(text.matchAll(/\bab{1,3}\b/g), ({ index, 0: { length } }) => ({
        start: index,
        end: index + length,
      }))
      expect(findAll([patternFinder('\\bab{1,3}\\b', 6)], text)).toEqual(wanted)
    }),
    runs(10),
  )
})

test('takes linear time with the patterns that ruin others', () => {
  const started = performance.now()
  for (const source of ['(a+)+$', '(a|aa)+b', '(.*)*#', '([a-z]+)*!', '(?:a+){2}$'])
    findAll([patternFinder(source, 100)], 'a'.repeat(100_000))
  expect(performance.now() - started).toBeLessThan(20_000)
}, 60_000)

test.each(['a', '[a-z]+', 'a*', '.', 'a\\b|a', 'a{2,}'])(
  'looks no further than a match can go where one begins at every place: %s',
  (source) => {
    const { RE2JS } = createRequire(import.meta.url)('re2js') as typeof import('re2js')
    const matcher = vi.spyOn(RE2JS.prototype, 'matcher')
    try {
      const text = 'a'.repeat(20_000)
      const find = patternFinder(source, 100)
      for (let at = 5000; at < 6000; at += 1) expect(find(text, at)?.start).toBe(at)
      const looked = matcher.mock.calls.reduce((sum, [part]) => sum + String(part).length, 0)
      expect(looked).toBeLessThan(1000 * 500)
    } finally {
      matcher.mockRestore()
    }
  },
)
