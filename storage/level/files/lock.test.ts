import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isLocked } from './lock.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'locked-'))
})

afterEach(() => rm(folder, { recursive: true }))

test('a database is locked from its opening to its close', async () => {
  const database = new Level(folder)
  await database.open()
  expect(await isLocked(folder)).toBe(true)
  await database.close()
  // The second look would find what the first one left open.
  expect([await isLocked(folder), await isLocked(folder)]).toEqual([false, false])
})

test('a folder without a database, or with one that cannot be opened, is not locked, and gets none', async () => {
  expect(await isLocked(folder)).toBe(false)
  expect(await readdir(folder)).not.toContain('CURRENT')
  await writeFile(path.join(folder, 'CURRENT'), 'garbage')
  expect(await isLocked(folder)).toBe(false)
})
