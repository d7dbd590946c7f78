import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { examineFiles, examineWriteAhead, isBeheaded } from './examine.ts'
import { madeByLevel } from './files-parts.ts'

const garbage = 'x'.repeat(100)
const gaps = [{ from: 0, to: 100, isInside: false }]

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'examined-'))
})

afterEach(() => rm(folder, { recursive: true }))

const has = async (...names: string[]): Promise<void> => {
  for (const name of names) await writeFile(path.join(folder, name), garbage)
}

test('of the files in a folder those of a database are examined, by their kind and in the order of their names', async () => {
  await has('000004.log', '000003.log', '000005.ldb', '000006.sst', 'MANIFEST-000002')
  await has('000003.log.kept', '000005.ldb.kept', 'old.MANIFEST-000001', 'CURRENT', 'LOG', 'log', 'xldb')
  const writeAhead = ['000003.log', '000004.log'].map((file) => ({ file, kind: 'write-ahead', gaps }))
  expect(await examineWriteAhead(folder)).toEqual(writeAhead)
  expect(await examineFiles(folder)).toEqual([
    ...writeAhead,
    { file: 'MANIFEST-000002', kind: 'directory', gaps },
    { file: '000005.ldb', kind: 'table', blocks: 'all' },
    { file: '000006.sst', kind: 'table', blocks: 'all' },
  ])
})

test('files that are whole are not told, nor are those that go while they are read', async () => {
  const rows = new Map([['key', 'value']])
  const table = await madeByLevel(rows, { table: true })
  const log = await madeByLevel(rows, { table: false })
  for (const [name, bytes] of [
    ['000003.log', log],
    ['MANIFEST-000002', log],
    ['000005.ldb', table],
  ] as const)
    await writeFile(path.join(folder, name), bytes)
  await symlink(path.join(folder, 'gone'), path.join(folder, '000007.log'))
  expect(await examineFiles(folder)).toEqual([])
})

test('what cannot be read for another reason is refused', async () => {
  await mkdir(path.join(folder, '000003.log'))
  await expect(examineFiles(folder)).rejects.toMatchObject({ code: 'EISDIR' })
  await has('file')
  for (const look of [examineFiles, isBeheaded])
    await expect(look(path.join(folder, 'file'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test.for<[string[], boolean]>([
  [[], false],
  [['LOCK', 'LOG', '000003.log.kept', '000005.ldb.kept', 'xldb'], false],
  [['000003.log'], true],
  [['000005.ldb', 'LOCK'], true],
  [['000005.sst'], true],
  [['000003.log', '000005.ldb', 'CURRENT'], false],
])('a database is taken for beheaded by its files %j: %s', async ([names, beheaded]) => {
  await has(...names)
  expect(await isBeheaded(folder)).toBe(beheaded)
})

test('a folder that is not there has no damage and no database', async () => {
  const none = path.join(folder, 'none')
  expect([await examineFiles(none), await isBeheaded(none)]).toEqual([[], false])
})
