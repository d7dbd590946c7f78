import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fillUp, hasFullDevice } from '../conformance/full-device.ts'
import type { Engine, StoreProblem } from '../index.ts'
import { openLevel } from '../level.ts'

let folder: string
let engine: Engine

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'counters-'))
  engine = await openLevel(path.join(folder, 'db'))
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

/** What a start would find if the process were killed now. */
async function onDisk(): Promise<Record<string, string>> {
  const copy = path.join(folder, 'copy')
  await rm(copy, { recursive: true, force: true })
  await cp(path.join(folder, 'db'), copy, { recursive: true })
  const database = new Level<string, string>(copy)
  const found: Record<string, string> = {}
  for await (const [key, value] of database.iterator({ gte: 'n/use!', lt: 'n/use"' }))
    found[key.slice('n/use!'.length)] = value
  await database.close()
  return found
}

test('what is counted is on the disk soon, again and again, without a flush', async () => {
  const counters = await engine.counters('use')
  counters.add('a', 2)
  await expect.poll(onDisk).toEqual({ a: '2' })
  counters.add('a', 3)
  counters.set('b', -1)
  await expect.poll(onDisk).toEqual({ a: '5', b: '-1' })
})

test('what was cleared is gone from the disk, and nothing else', async () => {
  const counters = await engine.counters('use')
  for (const name of ['a/x', 'a/y', 'b']) counters.add(name, 1)
  await counters.flush()
  expect(await onDisk()).toEqual({ 'a/x': '1', 'a/y': '1', b: '1' })
  counters.clear('a/')
  await counters.flush()
  expect(await onDisk()).toEqual({ b: '1' })
})

test('what is no whole number on the disk counts from nothing', async () => {
  const counters = await engine.counters('use')
  for (const name of ['a', 'b', 'c', 'd']) counters.add(name, 1)
  await engine.close()
  const database = new Level<string, string>(path.join(folder, 'db'))
  await database.batch([
    { type: 'put', key: 'n/use!a', value: '1e300' },
    { type: 'put', key: 'n/use!b', value: 'torn' },
    { type: 'put', key: 'n/use!c', value: '0.5' },
  ])
  await database.close()
  engine = await openLevel(path.join(folder, 'db'))
  expect((await engine.counters('use')).entries()).toEqual([['d', 1]])
})

test.skipIf(!hasFullDevice)(
  'what the disk refuses goes on in memory, is told of, and is written when the disk takes it',
  async () => {
    const problems: StoreProblem[] = []
    await engine.close()
    engine = await openLevel(path.join(folder, 'db'), { report: (problem) => problems.push(problem) })
    const counters = await engine.counters('use')
    counters.add('a', 1)
    await counters.flush()
    await fillUp(path.join(folder, 'db'), engine.compact)
    counters.add('a', 2)
    await expect.poll(() => problems).toMatchObject([{ code: 'STORE_FAILED', part: 'use' }])
    counters.add('b', 5)
    expect(counters.get('a')).toBe(3)
    await expect.poll(onDisk, { timeout: 10_000 }).toEqual({ a: '3', b: '5' })
  },
)

test.skipIf(!hasFullDevice)('a flush that the disk refuses is made up for later', async () => {
  const counters = await engine.counters('use')
  counters.add('a', 1)
  await counters.flush()
  await fillUp(path.join(folder, 'db'), engine.compact)
  counters.add('a', 2)
  await expect(counters.flush()).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await expect.poll(onDisk, { timeout: 10_000 }).toEqual({ a: '3' })
})

test('a closed store counts nothing more', async () => {
  const counters = await engine.counters('use')
  counters.add('a', 1)
  await engine.close()
  const closed = expect.objectContaining({ code: 'STORE_CLOSED' })
  for (const act of [
    () => counters.add('a', 1),
    () => counters.set('a', 1),
    () => counters.delete('a'),
    () => counters.clear('a'),
  ])
    expect(act).toThrow(closed)
  expect(counters.get('a')).toBe(1)
})

test('counters come sorted by name, and take whole numbers only', async () => {
  const counters = await engine.counters('use')
  for (const name of ['b', 'a/y', 'c', 'a/x', 'd']) counters.add(name, 1)
  expect(counters.entries().map(([name]) => name)).toEqual(['a/x', 'a/y', 'b', 'c', 'd'])
  expect(counters.entries('a/').map(([name]) => name)).toEqual(['a/x', 'a/y'])
  const invalid = expect.objectContaining({ code: 'AMOUNT_INVALID' })
  for (const amount of [0.5, Number.NaN, 2 ** 53]) {
    expect(() => counters.add('b', amount)).toThrow(invalid)
    expect(() => counters.set('b', amount)).toThrow(invalid)
  }
  expect(counters.get('b')).toBe(1)
})
