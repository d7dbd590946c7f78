import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { checkAgreement, openLevel } from '../level.ts'

/** Where programs of other versions look for it. */
const versionKey = '!version'
const row = { schema: z.object({ n: z.number() }) }

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'store-version-'))
})

afterEach(() => rm(folder, { recursive: true }))

/** Sets the version that the store says it has. */
async function mark(version: string | undefined): Promise<void> {
  const database = new Level<string, string>(folder)
  if (version === undefined) await database.del(versionKey)
  else await database.put(versionKey, version)
  await database.close()
}

async function write(): Promise<void> {
  const engine = await openLevel(folder)
  await engine.collection('rows', row).put('one', { n: 1 })
  await engine.close()
}

async function read(): Promise<unknown> {
  const engine = await openLevel(folder)
  const found = await engine.collection('rows', row).get('one')
  await engine.close()
  return found
}

test('a store that a newer version has written is refused and left as it is', async () => {
  await write()
  await mark('2')
  const refused = { code: 'VERSION_AHEAD', message: expect.stringContaining('Start the newer version') }
  await expect(openLevel(folder)).rejects.toMatchObject(refused)
  await expect(checkAgreement(folder, { repair: true })).rejects.toMatchObject(refused)
  await mark('1')
  expect(await read()).toEqual({ n: 1 })
})

test('a store without a version is opened and gets one', async () => {
  await write()
  await mark(undefined)
  expect(await read()).toEqual({ n: 1 })
  const database = new Level<string, string>(folder)
  expect(await database.get(versionKey)).toBe('1')
  await database.close()
})

test('a copy has the version of its store', async () => {
  const engine = await openLevel(path.join(folder, 'db'))
  await engine.copyTo(path.join(folder, 'copy'))
  await engine.close()
  const copy = new Level<string, string>(path.join(folder, 'copy'))
  expect(await copy.get(versionKey)).toBe('1')
  await copy.close()
})
