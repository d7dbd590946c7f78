import { createHash } from 'node:crypto'
import { copyFile, cp, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Compactable, Database } from '../group-commit.ts'
import { examineWriteAhead } from './examine.ts'
import { examine, mendWriteAhead, repairFiles } from './repair.ts'

const blockBytes = 32 * 1024
const now = new Date('2026-01-02T03:04:05.678Z')
const stamp = '2026-01-02T03-04-05.678Z'

let home: string
/** A database that was killed: its old rows in a table, the new ones in a write-ahead file of more than one block. */
let folder: string
let copy: string

/** Text that a table has as it is, although it is compressed. */
const textOf = (n: number): string => createHash('sha512').update(`${n}`).digest('base64')
const row = (n: number): [string, string] => [
  `id${String(n).padStart(3, '0')}`,
  textOf(n).repeat(8).slice(0, 700),
]
const all = Array.from({ length: 120 }, (_, n) => row(n))

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'repairs-'))
  const writing = new Level<string, string>(path.join(home, 'open'))
  for (const [key, value] of all.slice(0, 60)) await writing.put(key, value)
  await writing.close()
  await writing.open()
  for (const [key, value] of all.slice(60)) await writing.put(key, value)
  await cp(path.join(home, 'open'), path.join(home, 'killed'), { recursive: true })
  await writing.close()
})

beforeEach(async () => {
  folder = path.join(home, 'db')
  copy = path.join(home, 'copy')
  await cp(path.join(home, 'killed'), folder, { recursive: true })
})

afterEach(async () => {
  for (const made of [folder, copy]) await rm(made, { recursive: true, force: true })
})

afterAll(() => rm(home, { recursive: true }))

const fileLike = async (pattern: RegExp): Promise<string> => {
  const name = (await readdir(folder)).find((one) => pattern.test(one))
  return path.join(folder, name!)
}

async function harm(pattern: RegExp, at: number, length = 20): Promise<string> {
  const file = await fileLike(pattern)
  const handle = await open(file, 'r+')
  await handle.write(Buffer.alloc(length, 0xa5), 0, length, at)
  await handle.close()
  return path.basename(file)
}

async function rowsIn(): Promise<[string, string][]> {
  const database = new Level<string, string>(folder)
  const rows = await database.iterator().all()
  await database.close()
  return rows
}

const log = /\.log$/
const table = /\.ldb$/

test('a damaged write-ahead file is kept under its name and the time before it is mended, each time', async () => {
  const file = await harm(log, 5000)
  const damaged = await readFile(path.join(folder, file))
  expect(await mendWriteAhead(folder, now)).toEqual([
    { file, found: expect.stringContaining('cannot be read'), lost: expect.stringContaining('one batch') },
  ])
  await harm(log, 9000)
  await mendWriteAhead(folder, new Date(now.getTime() + 1))
  const lost = path.join(folder, 'lost')
  expect(await readdir(lost)).toEqual([`${file}.${stamp}`, `${file}.2026-01-02T03-04-05.679Z`])
  expect(await readFile(path.join(lost, `${file}.${stamp}`))).toEqual(damaged)
  expect(await rowsIn()).toHaveLength(118)
})

/** By the end of a block: a row of 728 bytes ends 8 bytes before it, and the next one begins in these. */
test.for<[string, number, number, number[]]>([
  ['in the last row before it', -100, 50, [104]],
  ['in the beginning of the row that lies over it', -8, 3, [105]],
  ['in the rest of that row', 10, 20, [105]],
  ['up to it', -100, 100, [104, 105]],
  ['over it', -100, 300, [104, 105]],
  ['over a row on each side', -100, 850, [104, 105, 106]],
])('damage %s costs the rows that it lies on and no others', async ([, at, length, lost]) => {
  await harm(log, blockBytes + at, length)
  expect(await mendWriteAhead(folder)).toHaveLength(1)
  expect(await examineWriteAhead(folder)).toEqual([])
  expect(await rowsIn()).toEqual(all.filter((_, n) => !lost.includes(n)))
})

test('a database that is open is neither mended nor examined nor repaired, and is refused only for its damage', async () => {
  const database = new Level<string, string>(folder)
  await database.open()
  try {
    await database.put(...row(1))
    await database.put(...row(2))
    expect(await mendWriteAhead(folder)).toEqual([])
    await expect(examine(folder)).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } })
    const file = await fileLike(log)
    await harm(log, 100)
    const damaged = await readFile(file)
    await expect(mendWriteAhead(folder)).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    await expect(repairFiles(folder, copy)).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    expect(await readFile(file)).toEqual(damaged)
    expect(await readdir(folder)).not.toContain('lost')
  } finally {
    await database.close()
  }
})

test('a repair of write-ahead files alone leaves the other files as they are', async () => {
  const file = await harm(log, 5000)
  const before = await readdir(folder)
  expect(await repairFiles(folder, copy)).toMatchObject([{ file }])
  expect(await readdir(folder)).toEqual(before)
  expect(await readdir(copy)).toEqual(before)
  expect(await rowsIn()).toHaveLength(119)
})

test('damage of several kinds is repaired at once, also where the bytes still make sense', async () => {
  const at = (await readFile(await fileLike(table))).indexOf(textOf(5))
  expect(at).toBeGreaterThan(0)
  const files = [await harm(log, 5000), await harm(table, at, 1)]
  expect((await repairFiles(folder, copy)).map(({ file }) => file)).toEqual(files)
  expect(await examine(folder)).toEqual([])
  const rows = await rowsIn()
  expect(rows.length).toBeGreaterThan(100)
  expect(rows.length).toBeLessThan(119)
  for (const one of rows) expect(all).toContainEqual(one)
})

test('a beginning that is missing is made again, and write-ahead files are mended with it', async () => {
  await harm(log, 5000)
  await rm(path.join(folder, 'CURRENT'))
  expect(await repairFiles(folder, copy)).toHaveLength(2)
  expect(await examine(folder)).toEqual([])
  expect(await rowsIn()).toHaveLength(119)
})

test('a directory that is garbage is made again from the tables, and nothing is lost', async () => {
  const file = await fileLike(/^MANIFEST/)
  await writeFile(file, 'garbage'.repeat(50))
  expect(await repairFiles(folder, copy)).toMatchObject([{ file: path.basename(file) }])
  expect(await rowsIn()).toEqual(all)
})

test('a repair overwrites no copy that is there, and changes nothing then', async () => {
  const file = await harm(log, 5000)
  const damaged = await readFile(path.join(folder, file))
  await mkdir(copy)
  await writeFile(path.join(copy, file), 'an earlier copy')
  await expect(repairFiles(folder, copy)).rejects.toMatchObject({ code: 'ERR_FS_CP_EEXIST' })
  expect(await readFile(path.join(copy, file), 'utf8')).toBe('an earlier copy')
  expect(await readFile(path.join(folder, file))).toEqual(damaged)
})

test('a beginning or a table that is missing is told with what it costs', async () => {
  await rm(await fileLike(table))
  expect(await examine(folder)).toEqual([
    {
      file: 'MANIFEST',
      found: expect.stringMatching(/missing/),
      lost: 'the content of missing files',
    },
  ])
  await rm(path.join(folder, 'CURRENT'))
  expect(await examine(folder)).toEqual([
    { file: 'CURRENT', found: 'it is missing', lost: expect.stringContaining('made again') },
  ])
  await repairFiles(folder, copy)
  expect(await rowsIn()).toEqual(all.slice(60))
})

test('a file that is no table is left as it is in the copy, and goes with what it held', async () => {
  const file = path.basename(await fileLike(table))
  await writeFile(path.join(folder, file), 'garbage')
  await repairFiles(folder, copy)
  expect(await readFile(path.join(copy, file), 'utf8')).toBe('garbage')
  expect(await rowsIn()).toEqual(all.slice(60))
})

/** Leaves a table that is out of use beside the one that took its place, in which a row is deleted. */
async function outlive(
  deleted: string,
): Promise<{ readonly file: string; readonly bytes: Buffer; readonly inUse: string }> {
  const database: Database & Partial<Compactable> = new Level<string, string>(folder)
  await database.open()
  await database.compactRange!('', '~')
  const file = await fileLike(table)
  const bytes = await readFile(file)
  await database.del(deleted)
  await database.compactRange!('', '~')
  await database.close()
  await rm(file, { force: true })
  const inUse = await fileLike(table)
  await writeFile(file, bytes)
  return { file, bytes, inUse }
}

test('a table that is out of use brings no deleted row back, and stays in the copy', async () => {
  const { file, bytes, inUse } = await outlive(row(7)[0])
  const whole = await readFile(inUse)
  await writeFile(inUse, whole.fill(0xa5, 3, 23))
  expect(await repairFiles(folder, copy)).toMatchObject([{ file: path.basename(inUse) }])
  expect(await readFile(path.join(copy, path.basename(file)))).toEqual(bytes)
  const keys = (await rowsIn()).map(([key]) => key)
  expect(keys.length).toBeGreaterThan(100)
  expect(keys).not.toContain(row(7)[0])
})

test('nor does it where the table in its place is missing', async () => {
  const { file, bytes, inUse } = await outlive(row(7)[0])
  await rm(inUse)
  expect(await repairFiles(folder, copy)).toMatchObject([{ file: 'MANIFEST' }])
  expect(await readFile(path.join(copy, path.basename(file)))).toEqual(bytes)
  expect(await rowsIn()).toEqual([])
})

test('what a repair finds in tables of any order is the newest', async () => {
  const other = path.join(home, 'tables')
  const put = async (value: string) => {
    const database = new Level<string, string>(other)
    await database.put('key', value)
    await database.close()
  }
  await put('old')
  await put('new')
  const settled = new Level<string, string>(other)
  await settled.open()
  await settled.close()
  const tables = (await readdir(other)).filter((name) => name.endsWith('.ldb')).sort()
  expect(tables).toHaveLength(2)
  const [first = '', second = ''] = tables.map((name) => path.join(other, name))
  const bytes = await readFile(first)
  await copyFile(second, first)
  await writeFile(second, bytes)
  await rm(path.join(other, 'CURRENT'))
  await repairFiles(other, copy)
  const repaired = new Level<string, string>(other)
  expect(await repaired.get('key')).toBe('new')
  await repaired.close()
})
