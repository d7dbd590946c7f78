import { cp, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Engine, StoreHealth, StoreProblem } from '../index.ts'
import { checkAgreement, type LevelOptions, openLevel } from '../level.ts'

const Row = z.object({ text: z.string() })
const rowOptions = { id: (row: { id: string }) => row.id, time: () => 1, flushMs: 60_000 }

let home: string
let folder: string
let engine: Engine | undefined
let problems: StoreProblem[]

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'opening-'))
  folder = path.join(home, 'db')
  problems = []
})

afterEach(async () => {
  vi.restoreAllMocks()
  await engine?.close()
  engine = undefined
  await rm(home, { recursive: true })
})

async function opened(options: LevelOptions = {}): Promise<Engine> {
  engine = await openLevel(folder, { report: (problem) => problems.push(problem), ...options })
  return engine
}

const rowsIn = (store: Engine) => store.collection('rows', { schema: Row })

/** Leaves a folder as a killed process leaves it: with rows in a write-ahead file. */
async function kill(): Promise<void> {
  const running = await openLevel(path.join(home, 'running'))
  for (let n = 0; n < 3; n++) await rowsIn(running).put(`id${n}`, { text: `${n}`.repeat(100) })
  await cp(path.join(home, 'running'), folder, { recursive: true })
  await running.close()
}

test('an unclean end is told at the next opening, and a clean one is not', async () => {
  await kill()
  const unclean = vi.fn()
  const store = await opened({ unclean })
  expect([store.name, unclean.mock.calls.length, problems]).toEqual(['level', 1, []])
  expect(await rowsIn(store).count()).toBe(3)
  await store.close()
  await (await opened({ unclean })).close()
  await openLevel(folder).then((again) => again.close())
  expect(unclean).toHaveBeenCalledOnce()
})

test('what an unclean end left wrong is reported with its part', async () => {
  await (await opened()).close()
  const database = new Level<string, string>(folder)
  await database.batch([
    { type: 'put', key: '!open', value: '' },
    { type: 'put', key: 'c/rows!n', value: '7' },
  ])
  await database.close()
  expect(await rowsIn(await opened()).count()).toBe(0)
  expect(problems).toEqual([
    { code: 'STORE_DAMAGED', part: 'rows', message: expect.stringContaining('put right by the rows') },
  ])
})

test('damage in a write-ahead file is reported with the file', async () => {
  await kill()
  const file = (await readdir(folder)).find((name) => name.endsWith('.log'))!
  const handle = await open(path.join(folder, file), 'r+')
  await handle.write('garbage', 250)
  await handle.close()
  await opened()
  expect(problems[0]).toEqual({
    code: 'STORE_DAMAGED',
    part: file,
    message: expect.stringMatching(/^In a write-ahead file \d+ bytes cannot be read.* Lost: .*copy/),
  })
})

test('a folder that cannot be opened is refused with the reason, and left as it is', async () => {
  await (await opened()).close()
  const before = await readdir(folder)
  await rm(path.join(folder, 'CURRENT'))
  await expect(opened()).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringContaining('CURRENT is missing'),
  })
  expect(await readdir(folder)).toEqual(before.filter((name) => name !== 'CURRENT'))
  folder = path.join(home, 'other')
  await mkdir(path.join(folder, 'LOCK'), { recursive: true })
  await expect(opened()).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: `The database in ${folder} cannot be opened (Is a directory).`,
  })
})

test('a store that is open, or whose directory is garbage, is refused, and so is a look at what disagrees', async () => {
  const refuses = async (code: string): Promise<void> => {
    await expect(openLevel(folder)).rejects.toMatchObject({ code })
    await expect(checkAgreement(folder, { repair: true })).rejects.toMatchObject({ code })
  }
  await opened()
  await refuses('STORE_LOCKED')
  await engine?.close()
  expect(await checkAgreement(folder, { repair: true })).toEqual([])
  const manifest = (await readdir(folder)).find((name) => name.startsWith('MANIFEST'))!
  await writeFile(path.join(folder, manifest), 'garbage'.repeat(20))
  await refuses('STORE_DAMAGED')
})

test('what disagrees is told, and put right only where that is asked', async () => {
  await (await opened()).close()
  const database = new Level<string, string>(folder)
  await database.put('c/rows!n', '7')
  await database.close()
  const wrong = [{ part: 'rows', found: expect.stringContaining('counts'), canBeMended: true }]
  expect(await checkAgreement(folder, { repair: false })).toEqual(wrong)
  expect(await checkAgreement(folder, { repair: true })).toEqual(wrong)
  expect(await checkAgreement(folder, { repair: false })).toEqual([])
})

test.each([
  ['after it came into a table', true],
  ['before there was a table', false],
])('what was deleted %s leaves the disk when the store is compacted', async (_, isInTable) => {
  const store = await opened()
  const rows = rowsIn(store)
  await rows.put('kept', { text: 'to stay' })
  await rows.put('gone', { text: 'to be forgotten' })
  if (isInTable) await store.compact()
  await rows.delete('gone')
  const holds = async (): Promise<boolean> => {
    const names = (await readdir(folder)).filter((name) => /\.(log|ldb)$/.test(name))
    const files = await Promise.all(names.map((name) => readFile(path.join(folder, name))))
    return files.some((bytes) => bytes.includes('to be forgotten'))
  }
  expect(await holds()).toBe(true)
  await store.compact()
  await expect.poll(holds, { interval: 1 }).toBe(false)
  expect(await rows.get('kept')).toEqual({ text: 'to stay' })
})

test('a copy has what waited to be written', async () => {
  const store = await opened()
  store.log('log', rowOptions).append({ id: 'x' })
  await store.copyTo(path.join(home, 'copy'))
  const copy = await openLevel(path.join(home, 'copy'))
  expect((await copy.log('log', rowOptions).list()).total).toBe(1)
  await copy.close()
})

test.for([true, false])(
  'a store that refused a write says so (to a listener: %s), and is opened once more to be closed',
  async (isHeard) => {
    const told: StoreHealth[] = []
    const store = await opened(isHeard ? { changed: (health) => told.push(health) } : {})
    vi.spyOn(Level.prototype, 'batch').mockRejectedValueOnce(new Error('IO error: /a: the disk is away'))
    await expect(rowsIn(store).put('one', { text: '' })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(told.map(({ state, reason }) => [state, reason])).toEqual(
      isHeard ? [['read-only', 'The disk is away']] : [],
    )
    await store.close()
    expect(await rowsIn(await opened()).count()).toBe(0)
  },
)

test('a problem of a place is told once, until a thousand others were', async () => {
  const rows = rowsIn(await opened())
  rows.watch(() => {
    throw new Error('a listener of somebody else')
  })
  const put = (n: number) => rows.put(`id${n}`, { text: '' })
  await Promise.all(Array.from({ length: 1000 }, (_, n) => put(n)))
  await put(0)
  expect(problems).toHaveLength(1000)
  await put(1000)
  await put(0)
  await put(1000)
  expect(problems.slice(1000).map(({ id }) => id)).toEqual(['id1000', 'id0'])
})
