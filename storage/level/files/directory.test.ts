import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { tablesInUse } from './directory.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'directory-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

type Database = Level<string, string> & { compactRange(start: string, end: string): Promise<void> }
const database = (): Database => new Level<string, string>(folder, { writeBufferSize: 65_536 }) as Database

/** The tables that lie there when LevelDB has deleted what it has no use for, as it does when it opens. */
async function tablesThere(): Promise<Set<number>> {
  const level = database()
  await level.open()
  await level.close()
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ldb'))
  return new Set(names.map((name) => Number.parseInt(name, 10)))
}

const manifest = async (): Promise<string> =>
  path.join(folder, (await readdir(folder)).find((name) => name.startsWith('MANIFEST-'))!)

/** Long keys make a directory of many blocks, whose records are split between them. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('put'), fc.nat(20), fc.nat(9_000)) },
  fc.tuple(fc.constantFrom('compact', 'reopen'), fc.constant(0), fc.constant(0)),
)

test('after any history the tables in use are those that LevelDB keeps', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      await rm(folder, { recursive: true, force: true })
      const level = database()
      for (const [what, key, length] of steps) {
        if (what === 'put') await level.put(`${key}-${'k'.repeat(length)}`, 'v'.repeat(30_000))
        else if (what === 'compact') await level.compactRange('', '\uffff')
        else {
          await level.close()
          await level.open()
        }
      }
      await level.close()
      const there = await tablesThere()
      expect(await tablesInUse(folder)).toEqual(there)
    }),
    runs(25),
  )
})

test('records that are split between blocks are read', async () => {
  const level = database()
  for (let n = 0; n < 40; n++) await level.put(`${n}-${'k'.repeat(9_000)}`, 'v'.repeat(60_000))
  expect((await stat(await manifest())).size).toBeGreaterThan(65_536)
  await level.close()
  const there = await tablesThere()
  expect(there.size).toBeGreaterThan(1)
  expect(await tablesInUse(folder)).toEqual(there)
})

test('a directory that cannot be read in whole tells nothing', async () => {
  expect(await tablesInUse(folder)).toBeUndefined()
  const level = database()
  await level.put('key', 'value')
  await level.close()
  expect(await tablesInUse(folder)).toBeDefined()
  const file = await manifest()
  const bytes = await readFile(file)
  await writeFile(file, bytes.with(8, bytes[8]! ^ 1))
  expect(await tablesInUse(folder)).toBeUndefined()
  await writeFile(file, bytes)
  await writeFile(path.join(folder, 'CURRENT'), '../MANIFEST-000001\n')
  expect(await tablesInUse(folder)).toBeUndefined()
  await writeFile(path.join(folder, 'CURRENT'), 'MANIFEST-999999\n')
  expect(await tablesInUse(folder)).toBeUndefined()
})

test('a directory that was being written when its writer was killed is read up to there', async () => {
  const level = database()
  await level.put('key', 'value')
  await level.close()
  const there = await tablesThere()
  await appendFile(await manifest(), Buffer.from([1, 2, 3]))
  expect(await tablesInUse(folder)).toEqual(there)
})
