import { open } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { reasonOf } from './reason.ts'

test('what the system says is told without paths', async () => {
  const ofNode = await open('/nowhere/at/all').catch((error: unknown) => error)
  expect(reasonOf(ofNode)).toBe('No such file or directory')
  const ofLevel = new Error('IO error: /data/db/000004.log: No space left on device')
  expect(reasonOf(ofLevel)).toBe('No space left on device')
  expect(reasonOf(new Error('not open', { cause: ofLevel }))).toBe('No space left on device')
  expect(reasonOf(new Error('At least 3 MB must be free'))).toBe('At least 3 MB must be free')
})

test.each([
  ['Corruption: 1 missing files; e.g.: /data/db/000005.ldb', '1 missing files'],
  ['IO error: lock /data/db/LOCK: already held by process', 'Lock /data/db/LOCK: already held by process'],
  ['Corruption: bad block: checksum mismatch', 'Bad block: checksum mismatch'],
  ['/data/db/000005.ldb: no such file', 'No such file'],
  ['missing; e.g. this one', 'Missing; e.g. this one'],
  ['', ''],
])('of %j it is told %j', (message, reason) => {
  expect(reasonOf(new Error(message))).toBe(reason)
})

test('what is no error is told as it is, and a cause that is none tells nothing', () => {
  expect(reasonOf('full')).toBe('full')
  expect(reasonOf(undefined)).toBe('undefined')
  expect(reasonOf(new Error('not open', { cause: 'full' }))).toBe('Not open')
})
