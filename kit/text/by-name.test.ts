import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { byName, isGlob } from './by-name.ts'

test('an exact name comes before a glob, an earlier glob before a later one, and case does not count', () => {
  const find = byName({ 'gpt-*': 'first', 'gpt-4*': 'second', 'GPT-4o': 'exact' })
  expect(find('gpt-4O')).toBe('exact')
  expect(find('gpt-4.1')).toBe('first')
  expect(find('claude')).toBeUndefined()
})

test('a name that is no glob finds its own value, whatever globs stand before it', () => {
  const name = fc.stringMatching(/^[a-z/*?-]{1,6}$/)
  fc.assert(
    fc.property(fc.dictionary(name, fc.nat()), (values) => {
      const find = byName(values)
      for (const [one, value] of Object.entries(values))
        if (isGlob(one)) expect(Object.values(values)).toContain(find(one))
        else expect(find(one)).toBe(value)
    }),
    runs(200),
  )
})
