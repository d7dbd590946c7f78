import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LogKeys } from './log-keys.ts'
import { checkSums } from './sums.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sums-'))
})

afterEach(async () => {
  vi.restoreAllMocks()
  await rm(folder, { recursive: true })
})

async function write(texts: Readonly<Record<string, string>>): Promise<void> {
  const database = new Level<string, string>(folder)
  await database.batch(Object.entries(texts).map(([key, value]) => ({ type: 'put', key, value })))
  await database.close()
}

async function stored(): Promise<Record<string, string>> {
  const database = new Level<string, string>(folder)
  const all = Object.fromEntries(await database.iterator().all())
  await database.close()
  return all
}

const [calls, events] = [new LogKeys('calls'), new LogKeys('part/events')]
const sound = {
  [calls.cell('sound')]: '{"calls":1}',
  [events.cell('sound')]: '{}',
  [calls.rows(0)]: 'no sums',
  'n/use!sound': '-2',
  'c/rows!r!id': 'no sums either',
}
const odd = {
  [events.cell('half')]: '{"calls":3,"cost":0.5}',
  [events.cell('torn')]: '{"calls":',
  'n/use!much': '1e300',
}
const found = [
  { part: 'part/events', sums: 2 },
  { part: 'use', sums: 1 },
]

test('sums that are no whole numbers are counted where they lie, and stay unless they are to be repaired', async () => {
  await write({ ...sound, ...odd })
  expect(await checkSums(folder, { repair: false })).toEqual(found)
  expect(await stored()).toEqual({ ...sound, ...odd })
})

test('repairing takes odd sums out, at once on disk, and leaves everything else', async () => {
  await write({ ...sound, ...odd })
  const writes: unknown[] = []
  const { batch } = Level.prototype
  vi.spyOn(Level.prototype, 'batch').mockImplementation(function (this: Level) {
    const made = Reflect.apply(batch, this, [])
    const write = made.write.bind(made)
    made.write = ((options: object) => {
      writes.push(options)
      return write(options)
    }) as typeof write
    return made
  } as never)
  expect(await checkSums(folder, { repair: true })).toEqual(found)
  expect(writes.length).toBeGreaterThan(0)
  for (const options of writes) expect(options).toEqual({ sync: true })
  vi.restoreAllMocks()
  expect(await stored()).toEqual({
    ...sound,
    [events.cell('half')]: '{"calls":3}',
    [events.cell('torn')]: '{}',
  })
  expect(await checkSums(folder, { repair: true })).toEqual([])
})
