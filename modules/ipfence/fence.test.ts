import { expect, test } from 'vitest'
import { compileFence } from './fence.ts'

const verdict = (lists: { allow?: string[]; deny?: string[] }, address: string) =>
  compileFence({ allow: [], deny: [], ...lists })?.(address)

test('lists that are empty fence nothing', () => {
  expect(compileFence({ allow: [], deny: [] })).toBeUndefined()
})

test('what is denied is out even if it is allowed', () => {
  const lists = { allow: ['10.0.0.0/8'], deny: ['10.6.6.0/24'] }
  expect(verdict(lists, '10.6.7.1')).toBeUndefined()
  expect(verdict(lists, '10.6.6.1')).toBe('deny')
  expect(verdict(lists, '192.0.2.1')).toBe('allow')
})

test('what is not an address never passes', () => {
  for (const text of ['', 'localhost', '999.1.1.1', 'unix:']) {
    expect(verdict({ deny: ['192.0.2.1'] }, text)).toBe('deny')
  }
})
