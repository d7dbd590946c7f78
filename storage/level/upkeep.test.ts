import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { LogOptions } from '../index.ts'
import { openLevel } from '../level.ts'
import type { BlockHeader } from './block.ts'
import { prefixRange } from './keys.ts'
import { LogKeys } from './log-keys.ts'

interface Call {
  readonly id: string
  readonly at: number
  readonly ms: number
}

const before: LogOptions<Call> = {
  id: ({ id }) => id,
  time: ({ at }) => at,
  fields: { rung: ({ ms }) => Math.floor(ms / 10) },
}
const now: LogOptions<Call> = { id: before.id, time: before.time, numbers: { ms: ({ ms }) => ms } }
const callOf = (n: number): Call => ({ id: `c${n}`, at: n, ms: (n * 37) % 101 })
const rows = 100
const slow = Array.from({ length: rows }, (_, n) => callOf(n)).filter(({ ms }) => ms >= 63)

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upkeep-'))
})

afterEach(() => rm(folder, { recursive: true }))

const open = () => openLevel(folder, { logFormat: { chunkRows: 4, blockRows: 16 } })

/** A log as it was written when a log had no numbers. */
async function writeFormerly(): Promise<void> {
  const engine = await open()
  const log = engine.log('calls', before)
  for (let n = 0; n < rows; n++) log.append(callOf(n))
  await engine.close()
  const database = new Level<string, string>(folder)
  for await (const [key, text] of database.iterator(prefixRange(new LogKeys('calls').headers))) {
    const { numbers: _, ...header } = JSON.parse(text) as BlockHeader
    await database.put(key, JSON.stringify(header))
  }
  await database.close()
}

test('a log of the former form is asked at once, and appended to meanwhile', async () => {
  await writeFormerly()
  const engine = await open()
  const log = engine.log('calls', now)
  const asked = log.list({ atLeast: { ms: 63 }, limit: 2 })
  log.append({ id: 'late', at: rows, ms: 1 })
  expect(await asked).toMatchObject({ items: slow.toReversed().slice(0, 2), total: slow.length })
  expect((await log.list()).total).toBe(rows + 1)
  await engine.close()
})

test('a log of the former form is brought to the present one, and what it needs no more is gone', async () => {
  await writeFormerly()
  const engine = await open()
  const log = engine.log('calls', now)
  await log.prepare()
  await engine.close()
  const database = new Level<string, string>(folder)
  const headers = await database.values(prefixRange(new LogKeys('calls').headers)).all()
  expect(headers.map((text) => (JSON.parse(text) as BlockHeader).numbers)).toEqual(Array(6).fill(['ms']))
  const keys = new LogKeys('calls')
  expect(await database.keys(prefixRange(keys.postings(0))).all()).toEqual([])
  await database.close()
  const again = await open()
  expect((await again.log('calls', now).list({ atLeast: { ms: 63 } })).items).toEqual(slow.toReversed())
  await again.close()
})

test('rows of blocks whose index is gone are found again when the log is prepared', async () => {
  await writeFormerly()
  const keys = new LogKeys('calls')
  const database = new Level<string, string>(folder)
  await database.batch([1, 3].map((block) => ({ type: 'del', key: keys.header(block) })))
  await database.close()
  const engine = await open()
  const log = engine.log('calls', now)
  expect((await log.list()).total).toBe(rows - 32)
  await log.prepare()
  expect((await log.list({ limit: 0 })).total).toBe(rows)
  expect((await log.list({ atLeast: { ms: 63 } })).items).toEqual(slow.toReversed())
  await engine.close()
})

test('closing does not wait until a whole log is prepared', async () => {
  await writeFormerly()
  const engine = await open()
  const prepared = engine.log('calls', now).prepare()
  await engine.close()
  await prepared
  const again = await open()
  expect((await again.log('calls', now).list({ atLeast: { ms: 63 } })).total).toBe(slow.length)
  await again.close()
})

test('a number that a log has no more leaves the disk, and what reads rows has them prepared before', async () => {
  await writeFormerly()
  const first = await open()
  await first.log('calls', now).prepare()
  await first.close()
  const prepared = new Set<Call>()
  const engine = await open()
  const log = engine.log<Call>('calls', {
    ...before,
    prepare: async (all) => {
      for (const row of all) prepared.add(row)
    },
    fields: { known: (row) => prepared.has(row) },
    numbers: { half: ({ ms }) => ms / 2 },
  })
  await log.prepare()
  expect((await log.list({ where: { known: true } })).total).toBe(rows)
  expect((await log.list({ atLeast: { half: 31.5 } })).items).toEqual(slow.toReversed())
  await engine.close()
  const database = new Level<string, string>(folder)
  const keys = new LogKeys('calls')
  const numbers = await database.keys({ gte: keys.numbers(0, ''), lt: keys.numbers(6, '') }).all()
  expect(numbers).toEqual(Array.from({ length: 6 }, (_, block) => keys.numbers(block, 'half')))
  await database.close()
})
