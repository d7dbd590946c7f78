import { open } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { reasonOf } from './reason.ts'

test('what the system says is told without paths', async () => {
  const ofNode = await open('/nowhere/at/all').catch((error: unknown) => error)
  expect(reasonOf(ofNode)).toBe('No such file or directory')
  const ofLevel = new Error('IO error: /data/db/000004.log: No space left on device')
  expect(reasonOf(ofLevel)).toBe('No space left on device')
  expect(reasonOf(new Error('not open', { cause: ofLevel }))).toBe('No space left on device')
  expect(reasonOf(new Error('Corruption: 1 missing files; e.g.: /data/db/000005.ldb'))).toBe(
    '1 missing files',
  )
  expect(reasonOf(new Error('At least 3 MB must be free'))).toBe('At least 3 MB must be free')
})
