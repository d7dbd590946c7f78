import { expect, test } from 'vitest'
import { checkId, checkIndexNames, isId, joinName } from './names.ts'

const longest = 'x'.repeat(1024)

test('a part is named with a-z, 0-9, _ and -, below the path of its namespace', () => {
  expect(joinName('', 'calls')).toBe('calls')
  expect(joinName('plugins/a', 'rate_limits-2')).toBe('plugins/a/rate_limits-2')
  for (const name of ['', 'a b', 'a/b', 'A', 'é', 'a!', '!a', 'a\n'])
    expect(() => joinName('plugins', name)).toThrow(
      expect.objectContaining({ code: 'NAME_INVALID', message: expect.stringContaining(`"${name}"`) }),
    )
})

test('an index is named with letters, digits, _, . and -', () => {
  checkIndexNames([])
  checkIndexNames(['owner', 'key.Id', 'a_b-2'])
  for (const name of ['', 'a b', 'a!', '!a', 'é', 'a\0'])
    expect(() => checkIndexNames(['owner', name])).toThrow(expect.objectContaining({ code: 'NAME_INVALID' }))
})

test('an id has 1 to 1024 characters of valid Unicode without U+0000', () => {
  for (const id of ['a', 'a/b!c d', '\u{1F600}', longest]) {
    expect(isId(id)).toBe(true)
    checkId(id)
  }
  for (const id of ['', `${longest}x`, 'a\0b', '\uD83D']) {
    expect(isId(id)).toBe(false)
    expect(() => checkId(id)).toThrow(expect.objectContaining({ code: 'ID_INVALID' }))
  }
})
