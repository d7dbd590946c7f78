import fc from 'fast-check'
import { expect, test } from 'vitest'
import { differences } from './difference.ts'

test('a difference says where, and what it was and is, but not in which words', () => {
  const kept = { role: 'user', content: 'stays' }
  const before = { model: 'a', max_tokens: 500, messages: [kept, { role: 'user', content: 'my secret' }] }
  const after = { model: 'a', temperature: 1, messages: [kept, { role: 'user', content: '[x]' }] }
  expect(differences(before, after)).toEqual([
    { path: 'max_tokens', before: { type: 'number', value: 500 }, after: { type: 'absent' } },
    { path: 'messages[1].content', before: { type: 'text', size: 9 }, after: { type: 'text', size: 3 } },
    { path: 'temperature', before: { type: 'absent' }, after: { type: 'number', value: 1 } },
  ])
})

test('a list that grew is told as a whole', () => {
  expect(differences({ messages: [1] }, { messages: [0, 1] })).toEqual([
    { path: 'messages', before: { type: 'list', size: 1 }, after: { type: 'list', size: 2 } },
  ])
})

test('values differ nowhere exactly when they are the same JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(differences(a, structuredClone(a))).toEqual([])
      const same = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
      expect(differences(a, b).length === 0).toBe(same)
    }),
  )
})

test('no text of either side is in what is told', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[A-Z]{12}$/), fc.stringMatching(/^[A-Z]{14}$/), (a, b) => {
      const told = JSON.stringify(differences({ prompt: [a] }, { prompt: [b] }))
      expect(told).not.toContain(a)
      expect(told).not.toContain(b)
    }),
  )
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return Object.is(value, -0) ? 0 : value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, part]) => [key, sorted(part)] as const)
      .sort(([x], [y]) => (x < y ? -1 : 1)),
  )
}
