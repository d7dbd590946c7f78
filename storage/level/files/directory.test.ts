import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { maskedCrc32c } from './crc32c.ts'
import { tablesInUse } from './directory.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'directory-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

type Database = Level<string, string> & { compactRange(start: string, end: string): Promise<void> }
const database = (): Database => new Level<string, string>(folder, { writeBufferSize: 65_536 }) as Database

/** When each table there was written last, by its number. */
async function tablesThere(): Promise<ReadonlyMap<number, bigint>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ldb'))
  const times = names.map(async (name) => {
    const { mtimeNs } = await stat(path.join(folder, name), { bigint: true })
    return [Number.parseInt(name, 10), mtimeNs] as const
  })
  return new Map(await Promise.all(times))
}

/**
 * Returns the tables in use. All of them are there, and the others LevelDB deletes when it opens, or writes a new one in their place. It
 * may merge those in use at once, so it is not asked which it has.
 */
async function inUse(): Promise<ReadonlySet<number>> {
  const found = (await tablesInUse(folder))!
  const before = await tablesThere()
  expect([...found].filter((number) => !before.has(number))).toEqual([])
  const level = database()
  await level.open()
  await level.close()
  const after = await tablesThere()
  const kept = [...before].filter(([number, time]) => after.get(number) === time)
  expect(kept.filter(([number]) => !found.has(number))).toEqual([])
  return found
}

const manifest = async (): Promise<string> =>
  path.join(folder, (await readdir(folder)).find((name) => name.startsWith('MANIFEST-'))!)

/** Long keys make a directory of many blocks, whose records are split between them. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constant('put'), fc.nat(20), fc.nat(9_000)) },
  fc.tuple(fc.constantFrom('compact', 'reopen'), fc.constant(0), fc.constant(0)),
)

test('after any history the tables in use are there, and LevelDB keeps no others', async () => {
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
      await inUse()
    }),
    runs(25),
  )
})

test('tables that were merged into others are no longer in use', async () => {
  const level = database()
  for (let n = 0; n < 10; n++) await level.put('key', `${n}`.repeat(60_000))
  await level.compactRange('', '\uffff')
  await level.close()
  expect((await inUse()).size).toBe(1)
})

test('records that are split between blocks are read', async () => {
  const level = database()
  for (let n = 0; n < 40; n++) await level.put(`${n}-${'k'.repeat(9_000)}`, 'v'.repeat(60_000))
  expect((await stat(await manifest())).size).toBeGreaterThan(65_536)
  await level.close()
  expect((await inUse()).size).toBeGreaterThan(1)
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
  for (const name of ['old-MANIFEST-000001', 'MANIFEST-000001.old']) {
    await writeFile(path.join(folder, name), bytes)
    await writeFile(path.join(folder, 'CURRENT'), `${name}\n`)
    expect(await tablesInUse(folder)).toBeUndefined()
  }
  await writeFile(path.join(folder, 'CURRENT'), 'MANIFEST-999999\n')
  expect(await tablesInUse(folder)).toBeUndefined()
})

test.each([
  ['a field that LevelDB does not write', [8]],
  ['an end within a field', [7, 0]],
])('a directory with %s tells nothing', async (_, record) => {
  const body = Buffer.from([1, ...record])
  const head = Buffer.alloc(6)
  head.writeUInt32LE(maskedCrc32c(body))
  head.writeUInt16LE(record.length, 4)
  await writeFile(path.join(folder, 'MANIFEST-000001'), Buffer.concat([head, body]))
  await writeFile(path.join(folder, 'CURRENT'), 'MANIFEST-000001\n')
  expect(await tablesInUse(folder)).toBeUndefined()
})

test('a directory that was being written when its writer was killed is read up to there', async () => {
  const level = database()
  await level.put('key', 'value')
  await level.close()
  const found = await tablesInUse(folder)
  await appendFile(await manifest(), Buffer.from([1, 2, 3]))
  expect(await tablesInUse(folder)).toEqual(found)
})
