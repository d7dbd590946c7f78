import { expect, test } from 'vitest'
import { findAll } from './find-all.ts'
import { patternFinder } from './pattern.ts'
import { patternSchema, spanFor, tagged } from './text-guard.ts'

test('what is found says what it is, and becomes what the operator wants', () => {
  const find = tagged(patternFinder('BADGE-[0-9]{6}', 50), { label: 'badge' })
  const [found] = findAll([find], 'I am BADGE-123456.')
  expect(found).toEqual({ start: 5, end: 17, label: 'badge' })
  const at = { start: 5, end: 17, label: 'badge' }
  expect(spanFor(found!, 'badge', 'block')).toEqual({ ...at, action: 'block' })
  expect(spanFor(found!, 'badge', 'warn')).toEqual({ ...at, action: 'note' })
  expect(spanFor(found!, 'badge', 'redact')).toEqual({
    ...at,
    action: 'replace',
    replacement: '[REDACTED:badge]',
  })
})

test('a pattern that is none, or that RE2 does not know, is refused', () => {
  expect(patternSchema.safeParse('a+b').success).toBe(true)
  for (const odd of ['(', '(?=a)', '\\1']) expect(patternSchema.safeParse(odd).success).toBe(false)
})
