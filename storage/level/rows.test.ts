import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StoreProblem } from '../index.ts'
import { accountOptions } from './crash-parts.ts'
import { Gate } from './gate.ts'
import { type Database, GroupCommit } from './group-commit.ts'
import { Rows } from './rows.ts'

const account = { owner: 'o', balance: 1 }

let folder: string
let database: Database
let writer: GroupCommit
let problems: StoreProblem[]
let rows: Rows<typeof account>

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'rows-'))
  database = new Level<string, string>(folder)
  await database.open()
  problems = []
  writer = new GroupCommit(database)
  const report = (problem: StoreProblem): void => void problems.push(problem)
  rows = new Rows({ database, writer, gate: new Gate(), report }, 'accounts', accountOptions)
})

afterEach(async () => {
  await database.close()
  await rm(folder, { recursive: true })
})

test('a row can be read from the turn on in which it is written, until it is deleted', async () => {
  expect([rows.has('a'), rows.read('a'), rows.isDamaged('a')]).toEqual([false, undefined, false])
  rows.write('a', rows.encode(account))
  expect([rows.has('a'), rows.read('a'), rows.isDamaged('a')]).toEqual([true, account, false])
  const committed = writer.commit()
  await rows.settled('a')
  expect(await database.get(rows.keys.row('a'))).toBe(rows.encode(account).text)
  await committed
  rows.write('a', undefined)
  expect([rows.has('a'), rows.read('a')]).toEqual([false, undefined])
})

const unreadable = { code: 'ROW_UNREADABLE', part: 'accounts', id: 'a' }

test.for<readonly [string, boolean]>([
  ['damaged', true],
  ['', true],
  ['[1,{"owner":["so"]}]\n{"owner":', false],
  ['[2,{}]\n{"owner":"o"}', false],
])(
  'of %j no row is read, which is reported, and it can be mended and replaced',
  async ([text, isDamaged]) => {
    writer.put(rows.keys.row('a'), text)
    await writer.commit()
    expect(rows.isDamaged('a')).toBe(isDamaged)
    expect(rows.decode('a', text)).toBeUndefined()
    expect(problems).toMatchObject([unreadable])
    expect(() => rows.read('a')).toThrow(
      expect.objectContaining({
        code: 'ROW_UNREADABLE',
        message: 'Row a of accounts cannot be read. Replace or delete it.',
      }),
    )
    await rows.mend('a')
    expect(rows.isDamaged('a')).toBe(false)
    expect(() => rows.read('a')).toThrow()
    rows.write('a', rows.encode(account))
    expect(rows.read('a')).toEqual(account)
  },
)

test('a row is read as one of the present version, or of the one that is asked for', () => {
  const text = '[2,{}]\n{"owner":"o","balance":1}'
  expect(rows.decode('a', text, 2)).toEqual(account)
  expect(problems).toEqual([])
  expect(rows.decode('a', text, 1)).toBeUndefined()
  rows.shape = { ...rows.shape, version: 2 }
  expect(rows.decode('a', text)).toEqual(account)
  expect(rows.encode(account).text).toBe('[2,{"owner":["so"]}]\n{"owner":"o","balance":1}')
})
