import { cp, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { collect } from '../../conformance/harness.ts'
import type { Collection, Engine, StoreProblem } from '../../index.ts'
import { checkAgreement, examine, openLevel, repairFiles } from '../../level.ts'
import { accountOptions, type Event, eventOptions, Link, linkAfter } from '../crash-parts.ts'

/** A store as it lies on the disk while it is open: its newest changes in a write-ahead file, the others in tables. */
let source: string
let folder: string
/** Where a repair keeps what was there. */
let copy: string
let engine: Engine | undefined
let problems: StoreProblem[]

const old = 400
const fresh = 60
const idOf = (n: number): string => `id${String(n).padStart(4, '0')}`
const ballast = 'x'.repeat(600)
const account = (n: number) => ({ owner: `o${n % 7}-${ballast}`, balance: n })

beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), 'files-'))
  source = join(home, 'db')
  const writing = await openLevel(join(home, 'open'), { logFormat: { chunkRows: 4, blockRows: 16 } })
  const accounts = writing.collection('accounts', accountOptions)
  const chain = writing.sequence('chain', Link)
  const events = writing.log<Event>('events', eventOptions)
  await Promise.all(Array.from({ length: old }, (_, n) => accounts.put(idOf(n), account(n))))
  for (let n = 0; n < 100; n++) events.append({ id: `e${n}`, at: n, kind: `k${n % 3}` })
  for (let n = 0; n < 20; n++) await chain.append(linkAfter)
  await writing.flush()
  await writing.compact()
  for (let n = old; n < old + fresh; n++) await accounts.put(idOf(n), account(n))
  await cp(join(home, 'open'), source, { recursive: true })
  await writing.close()
})

afterAll(() => rm(join(source, '..'), { recursive: true }))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'))
  copy = `${folder}-copy`
  await cp(source, folder, { recursive: true })
  problems = []
})

afterEach(async () => {
  await engine?.close()
  engine = undefined
  for (const made of [folder, copy]) await rm(made, { recursive: true, force: true })
})

const fileLike = async (pattern: RegExp): Promise<string> => {
  const names = (await readdir(folder)).filter((name) => pattern.test(name))
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
  return join(folder, names[sizes.indexOf(Math.max(...sizes))]!)
}

async function overwrite(file: string, at: number, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'r+')
  await handle.write(bytes, 0, bytes.length, at)
  await handle.close()
}

const garbage = (length: number) => Buffer.from(Array.from({ length }, (_, n) => (n * 131 + 89) % 256))

async function opened(): Promise<Engine> {
  engine = await openLevel(folder, { report: (problem) => problems.push(problem) })
  return engine
}

/** The ids there, of a collection whose indexes and counts are those of its rows. */
async function idsIn(accounts: Collection<{ owner: string; balance: number }>): Promise<string[]> {
  const all = await collect(accounts.scan())
  expect(await accounts.count()).toBe(all.length)
  expect(await accounts.count({ index: 'owner' })).toBe(all.length)
  for (const equals of new Set(all.map(([, { owner }]) => owner))) {
    const ids = all.filter(([, row]) => row.owner === equals).map(([id]) => id)
    expect((await accounts.list({ index: 'owner', equals })).total).toBe(ids.length)
    expect((await collect(accounts.scan({ index: 'owner', equals }))).map(([id]) => id)).toEqual(ids)
  }
  return all.map(([id]) => id)
}

const everyId = Array.from({ length: old + fresh }, (_, n) => idOf(n))

test('a store that was only killed has no damage, and nothing to put right', async () => {
  expect(await examine(folder)).toEqual([])
  expect(await checkAgreement(folder, { repair: false })).toEqual([])
  expect(await idsIn((await opened()).collection('accounts', accountOptions))).toEqual(everyId)
  expect(problems).toEqual([])
})

test('a table that was not finished when LevelDB was closed is no damage', async () => {
  const table = await readFile(await fileLike(/\.ldb$/))
  await writeFile(join(folder, '000900.ldb'), table.subarray(0, table.length / 2))
  expect(await examine(folder)).toEqual([])
  expect(await idsIn((await opened()).collection('accounts', accountOptions))).toEqual(everyId)
  expect(problems).toEqual([])
})

test('garbage in a write-ahead file is told, kept, and costs no more than what it lies on', async () => {
  const file = await fileLike(/\.log$/)
  const { size } = await stat(file)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: size - 400 }),
      fc.integer({ min: 1, max: 300 }),
      async (at, length) => {
        await rm(folder, { recursive: true })
        await cp(source, folder, { recursive: true })
        problems = []
        const before = (await readFile(file)).subarray(at, at + length)
        await overwrite(file, at, garbage(length))
        const damage = await examine(folder)
        if (before.equals(garbage(length))) return
        expect(damage).toMatchObject([{ found: expect.stringContaining('cannot be read') }])
        const ids = await idsIn((await opened()).collection('accounts', accountOptions))
        await engine?.close()
        expect(problems[0]).toMatchObject({ code: 'STORE_DAMAGED', message: expect.stringContaining('copy') })
        const missing = everyId.filter((id) => !ids.includes(id))
        expect(missing.length).toBeLessThanOrEqual(Math.ceil(length / 700) + 1)
        const [kept] = await readdir(join(folder, 'lost'))
        expect((await readFile(join(folder, 'lost', kept!))).subarray(at, at + length)).toEqual(
          garbage(length),
        )
        expect(await examine(folder)).toEqual([])
      },
    ),
    runs(25),
  )
}, 120_000)

const blockDamages: Readonly<Record<string, (table: Buffer) => void>> = {
  'of garbage': (table) => garbage(20).copy(table, 30_000),
  'whose bytes still make sense': (table) => {
    const digit = table.indexOf('"balance":', 30_000) + '"balance":'.length
    table[digit]! ^= 1
  },
}

test.for(Object.entries(blockDamages))(
  'a block %s is told with what lay there, and repaired with the loss of no other',
  async ([, harm]) => {
    const table = await fileLike(/\.ldb$/)
    const bytes = await readFile(table)
    harm(bytes)
    await writeFile(table, bytes)
    const damage = await examine(folder)
    expect(damage).toEqual([
      {
        file: expect.stringMatching(/\.ldb$/),
        found: '1 of its blocks cannot be read',
        lost: 'rows in these blocks, of collection accounts',
      },
    ])
    expect(await repairFiles(folder, copy)).toEqual(damage)
    expect(await readFile(join(copy, basename(table)))).toEqual(bytes)
    expect(await examine(folder)).toEqual([])
    expect((await checkAgreement(folder, { repair: true })).every(({ canBeMended }) => canBeMended)).toBe(
      true,
    )
    expect(await checkAgreement(folder, { repair: false })).toEqual([])
    const accounts = (await opened()).collection('accounts', accountOptions)
    const ids = await idsIn(accounts)
    for await (const [id, row] of accounts.scan()) expect(row).toEqual(account(everyId.indexOf(id)))
    expect(ids.length).toBeLessThan(everyId.length)
    expect(ids.length).toBeGreaterThan(everyId.length - 20)
    expect((await engine!.log<Event>('events', eventOptions).list()).total).toBe(100)
  },
)

const beheadings: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  'whose directory is garbage': async () => writeFile(await fileLike(/^MANIFEST/), garbage(500)),
  'whose directory is missing': async () => rm(await fileLike(/^MANIFEST/)),
  'whose beginning is missing': (at) => rm(join(at, 'CURRENT')),
  'whose beginning is garbage': (at) => writeFile(join(at, 'CURRENT'), garbage(10)),
}

test.for(Object.entries(beheadings))(
  'a store %s is not opened, and loses nothing when it is repaired',
  async ([, damage]) => {
    await damage(folder)
    const files = await readdir(folder)
    await expect(opened()).rejects.toMatchObject({
      code: 'STORE_DAMAGED',
      message: expect.stringContaining('doctor --repair'),
    })
    expect(await readdir(folder)).toEqual(
      expect.arrayContaining(files.filter((name) => /ldb|\.log/.test(name))),
    )
    await repairFiles(folder, copy)
    expect(await checkAgreement(folder, { repair: true })).toEqual([])
    expect(await idsIn((await opened()).collection('accounts', accountOptions))).toEqual(everyId)
  },
)

test('a table that is none any more refuses reading with words that say what to do', async () => {
  await writeFile(await fileLike(/\.ldb$/), garbage(1000))
  expect(await examine(folder)).toMatchObject([
    { found: 'it is not a readable table', lost: 'all its content' },
  ])
  const read = async () => (await opened()).collection('accounts', accountOptions).get(idOf(1))
  await expect(read()).rejects.toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringContaining('doctor --repair'),
  })
})

test('a table that is gone is told, and costs what lay in it', async () => {
  await rm(await fileLike(/\.ldb$/))
  expect(await examine(folder)).toMatchObject([
    { found: expect.stringMatching(/missing/), lost: expect.anything() },
  ])
  await expect(opened()).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  await repairFiles(folder, copy)
  await checkAgreement(folder, { repair: true })
  expect(await idsIn((await opened()).collection('accounts', accountOptions))).toEqual(everyId.slice(old))
})

test('a store that is open is not repaired', async () => {
  await opened()
  await expect(repairFiles(folder, copy)).rejects.toMatchObject({ code: 'STORE_LOCKED' })
})
