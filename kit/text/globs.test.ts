import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileGlobs } from './globs.ts'

describe('a glob', () => {
  test.each<[string, string, boolean]>([
    ['gpt-4o', 'GPT-4O', true],
    ['GPT-*', 'gpt-4o', true],
    ['gpt-4o', 'gpt-4o-mini', false],
    ['*', '', true],
    ['', '', true],
    ['', 'a', false],
    ['?', '', false],
    ['?', 'a', true],
    ['?', 'ab', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['*mini', 'gpt-4o-mini', true],
    ['*mini', 'mini-4o', false],
    ['gpt-*-mini', 'gpt-4o-mini', true],
    ['gpt-*-mini', 'gpt-mini', false],
    ['a*b*c', 'axxbxbxc', true],
    ['a*b*c', 'acb', false],
    ['a**', 'a', true],
    ['*a*', 'bab', true],
    ['a.c', 'abc', false],
    ['a*', 'b', false],
  ])('%s of %s: %s', (glob, name, matches) => {
    expect(compileGlobs([glob])(name)).toBe(matches)
    expect(compileGlobs(['none', glob])(name)).toBe(matches)
  })

  test('matches what a regular expression of it does', () => {
    const of = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), maxLength: 8 })
    fc.assert(
      fc.property(of('ab*?'), of('ab*?'), (glob, name) => {
        const pattern = new RegExp(`^${glob.replaceAll('*', '.*').replaceAll('?', '.')}$`)
        expect(compileGlobs([glob])(name)).toBe(pattern.test(name))
      }),
    )
  })
})

test('a star of a pattern stands for any text, also where the name has one itself', () => {
  for (const name of ['a*bc', 'a**c', 'ac', 'a*c']) expect(compileGlobs(['a*c'])(name)).toBe(true)
  for (const name of ['a*b', '*ac']) expect(compileGlobs(['a*c'])(name)).toBe(false)
})
