import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import type { StoreError } from '../errors.ts'
import { type Compactable, type Database, GroupCommit } from './group-commit.ts'

let folder: string
let database: Database
let batches: string[][]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'group-commit-'))
  database = new Level<string, string>(folder)
  batches = []
  database.on('write', (operations: { key: string }[]) => batches.push(operations.map(({ key }) => key)))
  await database.open()
})

afterEach(async () => {
  await database.close()
  await rm(folder, { recursive: true })
})

test('changes of one turn, and all that come while a batch is written, share a batch each', async () => {
  const writer = new GroupCommit(database)
  const commits: Promise<void>[] = []
  const put = (key: string) => {
    writer.put(key, 'x')
    commits.push(writer.commit())
  }
  put('a')
  put('b')
  await new Promise<void>((resolve) => setImmediate(resolve))
  put('c')
  put('d')
  put('e')
  await Promise.all(commits)
  expect(batches).toEqual([
    ['a', 'b'],
    ['c', 'd', 'e'],
  ])
})

test('a batch is fsynced when one of its commits asks for it', async () => {
  const batch = vi.spyOn(database, 'batch')
  const writer = new GroupCommit(database)
  for (const asked of [[true], [false], [false, true], [true, false]]) {
    const commits = asked.map((durable, n) => {
      writer.put(`key${n}`, 'x')
      return writer.commit(durable)
    })
    await Promise.all(commits)
  }
  const options: unknown[] = batch.mock.calls.map(([, given]: unknown[]) => given)
  expect(options).toEqual([{ sync: true }, { sync: false }, { sync: true }, { sync: true }])
})

test('reads see changes that wait or are being written, deletions included', async () => {
  const writer = new GroupCommit(database)
  writer.put('a', '1')
  expect(writer.read('a')).toBe('1')
  const first = writer.commit()
  await new Promise<void>((resolve) => setImmediate(resolve))
  expect(writer.read('a')).toBe('1')
  writer.delete('a')
  expect(writer.read('a')).toBeUndefined()
  await Promise.all([first, writer.commit()])
  expect(writer.read('a')).toBeUndefined()
})

test('an integer that comes to zero leaves no key behind', async () => {
  const writer = new GroupCommit(database)
  writer.add('n', 2)
  writer.add('n', 3)
  expect(writer.read('n')).toBe('5')
  await writer.commit()
  writer.add('n', -5)
  await writer.commit()
  expect(await database.keys().all()).toEqual([])
})

const refused = {
  code: 'STORE_FAILED',
  message: expect.stringContaining('No space left on device'),
}

const fill = () => fillUp(folder, () => (database as Database & Compactable).compactRange('0', '1'))

describe.skipIf(!hasFullDevice)('after a failed batch', () => {
  test('nothing more is written, and what failed cannot be read, until the database was opened again', async () => {
    const told: StoreError[] = []
    const writer = new GroupCommit(database, (failure) => told.push(failure))
    await fill()
    writer.put('a', '1')
    await expect(writer.commit()).rejects.toMatchObject(refused)
    expect(told).toEqual([writer.failure])
    expect(writer.read('a')).toBeUndefined()
    writer.put('b', '1')
    await expect(writer.commit()).rejects.toMatchObject(refused)
    await expect(writer.clear([{ gte: 'a', lt: 'b' }])).rejects.toMatchObject(refused)
    expect(writer.read('b')).toBeUndefined()
    expect(await database.keys().all()).toEqual([])

    await database.close()
    await database.open()
    writer.put('b', '1')
    await expect(writer.commit()).rejects.toMatchObject(refused)
    await expect(writer.clear([])).rejects.toMatchObject(refused)
    expect(writer.read('b')).toBeUndefined()
    expect(await database.keys().all()).toEqual([])
    writer.renew()
    writer.put('c', '1')
    await writer.commit()
    expect(await database.keys().all()).toEqual(['c'])
  })

  test('what waited behind it is refused as well, and settles', async () => {
    const writer = new GroupCommit(database)
    await fill()
    const behind: Promise<void>[] = []
    const batch = database.batch.bind(database) as () => ReturnType<Database['batch']>
    vi.spyOn(database, 'batch').mockImplementation((...given) => {
      const written = batch(...(given as []))
      writer.put('b', '1')
      behind.push(writer.commit(), writer.commit(false), writer.settled('b'))
      return written
    })
    writer.put('a', '1')
    const failing = writer.commit()
    await expect(failing).rejects.toMatchObject(refused)
    expect(behind).toHaveLength(3)
    for (const commit of behind) await expect(commit).rejects.toMatchObject(refused)
    expect(await database.keys().all()).toEqual([])
  })

  test('deleting whole ranges that the disk refuses ends writing too', async () => {
    const writer = new GroupCommit(database)
    writer.put('a', '1')
    await writer.commit()
    await fill()
    await expect(writer.clear([{ gte: 'a', lt: 'b' }])).rejects.toMatchObject(refused)
    expect(writer.failure).toMatchObject(refused)
    expect(writer.read('a')).toBe('1')
  })
})

test('settled waits for the key that waits, and for nothing else', async () => {
  const writer = new GroupCommit(database)
  writer.put('a', '1')
  await writer.settled('b')
  expect(batches).toEqual([])
  const commit = writer.commit()
  await writer.settled('a')
  expect(batches).toEqual([['a']])
  await commit
})

test('sync writes only when something may not be on disk yet', async () => {
  const writer = new GroupCommit(database)
  await writer.sync()
  writer.put('a', '1')
  await writer.commit()
  await writer.sync()
  expect(batches).toHaveLength(1)
  writer.put('b', '1')
  await writer.commit(false)
  await writer.sync()
  await writer.sync()
  expect(batches).toHaveLength(3)
})

test('sync waits for what is asked for or being written, and has it fsynced', async () => {
  const batch = vi.spyOn(database, 'batch')
  const syncs = (): boolean[] =>
    batch.mock.calls.map(([, given]: unknown[]) => (given as { sync: boolean }).sync)
  const writer = new GroupCommit(database)
  writer.put('a', '1')
  const asked = writer.commit(false)
  await writer.sync()
  expect(syncs()).toEqual([true])
  await asked
  writer.put('b', '1')
  const written = writer.commit(false)
  await new Promise<void>((resolve) => setImmediate(resolve))
  await writer.sync()
  expect(syncs()).toEqual([true, false, true])
  await written
})

test('a commit of nothing does not make what was written before safe', async () => {
  const writer = new GroupCommit(database)
  writer.put('a', '1')
  await writer.commit(false)
  await writer.commit()
  await writer.sync()
  expect(batches).toHaveLength(2)
})

test('bytes are read and written as they are, beside texts', async () => {
  const writer = new GroupCommit(database)
  const bytes = Buffer.of(0x28, 0xb5, 0xff, 0x00)
  writer.put('bytes', bytes)
  writer.put('text', Buffer.from('naïve'))
  expect(writer.read('text')).toBe('naïve')
  writer.put('plain', 'naïve')
  await writer.commit()
  expect(await database.get<string, Uint8Array>('bytes', { valueEncoding: 'view' })).toEqual(bytes)
  expect(await database.getMany(['text', 'plain'])).toEqual(['naïve', 'naïve'])
})

test('ranges are deleted with all that is in them, and nothing else', async () => {
  const writer = new GroupCommit(database)
  for (const key of ['a', 'b', 'c', 'd', 'e']) writer.put(key, 'x')
  await writer.commit()
  await writer.clear([
    { gte: 'a', lt: 'c' },
    { gte: 'd', lt: 'e' },
  ])
  const left = await database.keys({ gte: 'a' }).all()
  expect(left).toEqual(['c', 'e'])
})

test('one batch is written at a time, and what is being written can be read all the while', async () => {
  const gate = Promise.withResolvers<void>()
  const batch = database.batch.bind(database) as () => ReturnType<Database['batch']>
  let running = 0
  let most = 0
  vi.spyOn(database, 'batch').mockImplementation((async (...given: unknown[]) => {
    running += 1
    most = Math.max(most, running)
    await gate.promise
    await batch(...(given as []))
    running -= 1
  }) as never)
  const writer = new GroupCommit(database)
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  writer.put('a', '1')
  const commits = [writer.commit(), writer.commit()]
  for (let n = 0; n < 3; n++) await turn()
  writer.put('b', '1')
  commits.push(writer.commit())
  for (let n = 0; n < 3; n++) await turn()
  expect([writer.read('a'), writer.read('b'), most]).toEqual(['1', '1', 1])
  gate.resolve()
  await Promise.all(commits)
  expect(most).toBe(1)
  expect(await database.keys().all()).toEqual(['a', 'b'])
})
