import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { collect } from '../conformance/harness.ts'
import type { Collection, Engine, StoreProblem } from '../index.ts'
import { openLevel } from '../level.ts'
import {
  accountOptions,
  bodyOf,
  eventOptions,
  Link,
  newerAccountOptions,
  noteOptions,
} from './crash-parts.ts'

const script = join(import.meta.dirname, 'crash-child.ts')

let folder: string
let engine: Engine | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crash-'))
})

afterEach(async () => {
  await engine?.close()
  await rm(folder, { recursive: true })
})

/** Runs the child until it has said so many lines, kills it, and gives all it said. */
async function runAndKill(task: string, run: number, lines: number): Promise<string[][]> {
  const child = spawn(process.execPath, [script, folder, task, String(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said: string[][] = []
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line.split(' '))
    if (said.length === lines) child.kill('SIGKILL')
  }
  expect(await ended).toEqual([null, 'SIGKILL'])
  return said
}

async function expectConsistentCounts<T>(rows: Collection<T>, index: string, ownerOf: (row: T) => string) {
  const all = await collect(rows.scan())
  expect(await rows.count()).toBe(all.length)
  expect(await rows.count({ index })).toBe(all.length)
  for (const equals of new Set(all.map(([, row]) => ownerOf(row)))) {
    const ids = all.filter(([, row]) => ownerOf(row) === equals).map(([id]) => id)
    expect((await rows.list({ index, equals })).total).toBe(ids.length)
    expect((await collect(rows.scan({ index, equals }))).map(([id]) => id)).toEqual(ids)
  }
}

/** A moved row is there with all its entries, also when the move was no longer acknowledged; a refused one is not. */
async function expectWholeTransactions(engine: Engine, moved: readonly string[], refused: readonly string[]) {
  const accounts = engine.collection('accounts', accountOptions)
  const moves = engine.collection('moves', accountOptions)
  const ids = new Set((await collect(moves.scan())).map(([id]) => id))
  expect(moved.length).toBeGreaterThan(0)
  expect(moved.filter((id) => !ids.has(id))).toEqual([])
  expect(refused.filter((id) => ids.has(id))).toEqual([])
  await expectConsistentCounts(moves, 'owner', ({ owner }) => owner)
  expect((await accounts.get('giver'))?.balance).toBe(-ids.size)
  expect((await accounts.get('taker'))?.balance).toBe(ids.size)
  const links = await collect(engine.namespace('moved').sequence('links', Link).scan())
  expect(links).toEqual(Array.from({ length: 2 * ids.size }, (_, at) => ({ seq: at + 1, after: at })))
}

/** Each body is whole, and is the one that its row says; of what was cut off nothing is left in the end. */
async function expectWholeBodies(engine: Engine, written: readonly string[]) {
  const bodies = engine.bodies('files', { leaseMs: 100 })
  const notes = new Map(await collect(engine.collection('notes', noteOptions).scan()))
  expect(written.length).toBeGreaterThan(0)
  if (written.includes('shared')) expect(notes.has('shared')).toBe(true)
  const { items } = await bodies.list({ limit: 500 })
  expect(items.map(({ id }) => id)).toEqual([...notes.keys()])
  for (const { id, size, sha256 } of items) {
    const hash = createHash('sha256')
    for await (const bytes of (await bodies.get(id))!.read()) hash.update(bytes)
    const expected = createHash('sha256')
    for await (const bytes of bodyOf(notes.get(id)!.seed, size)) expected.update(bytes)
    expect([id, hash.digest('hex'), sha256]).toEqual([id, expected.digest('hex'), sha256])
  }
  await sleep(150)
  await bodies.write('last', bodyOf('', 0))
  await bodies.delete('last')
  const parts = items.reduce((sum, { size }) => sum + Math.ceil(size / 65_536), 0)
  const entries = (await engine.contents('bodies/')).reduce((sum, { entries }) => sum + entries, 0)
  expect(entries).toBe(items.length + parts)
}

test('what was acknowledged before a kill -9 is there after it, and all counts are right', async () => {
  const said: string[][] = []
  for (let run = 0; run < 3; run++) {
    said.push(...(await runAndKill('write', run, 1500)))
    const problems: StoreProblem[] = []
    engine = await openLevel(folder, { report: (problem) => problems.push(problem) })
    expect(problems).toEqual([])
    const words = (first: string) => said.filter(([word]) => word === first).map(([, word = '']) => word)

    const accounts = engine.collection('accounts', accountOptions)
    const deleting = new Set(words('deleting'))
    const missing = words('put').filter((id) => !deleting.has(id))
    for await (const [id] of accounts.scan()) if (missing.includes(id)) missing.splice(missing.indexOf(id), 1)
    expect(missing).toEqual([])
    expect((await accounts.get('shared'))?.balance).toBeGreaterThanOrEqual(words('updated').length)
    await expectConsistentCounts(accounts, 'owner', ({ owner }) => owner)

    await expectWholeTransactions(engine, words('moved'), words('refused'))

    await expectWholeBodies(engine, words('body'))

    const links = await collect(engine.sequence('chain', Link).scan())
    expect(links).toEqual(links.map((_, at) => ({ seq: at + 1, after: at })))
    expect(links.length).toBeGreaterThanOrEqual(Math.max(...words('link').map(Number)))

    const queued = await collect(engine.sequence('queued', Link).scan())
    expect(queued).toEqual(queued.map((_, at) => ({ seq: at + 1, after: at })))
    expect(queued.length).toBeGreaterThanOrEqual(Math.max(...words('queued').map(Number)))

    const events = engine.log('events', eventOptions)
    for (const id of words('event')) expect(await events.body(id)).toBe(`body of ${id}`)
    for (const [kind, { events: count }] of (await events.totals('', '~')).cells) {
      expect((await events.list({ where: { kind } })).items).toHaveLength(count ?? 0)
    }
    await engine.close()
  }
}, 120_000)

test('a migration that was killed goes on where it stopped', async () => {
  const rows = 2000
  engine = await openLevel(folder)
  const old = engine.collection('accounts', accountOptions)
  await Promise.all(
    Array.from({ length: rows }, (_, n) => old.put(`id${n}`, { owner: `o${n % 7}`, balance: n })),
  )
  await engine.close()

  await runAndKill('migrate', 0, 900)
  let migrated = 0
  engine = await openLevel(folder)
  const accounts = engine.collection('accounts', {
    ...newerAccountOptions,
    migrate(row, from) {
      expect(from).toBe(1)
      migrated++
      return newerAccountOptions.migrate(row)
    },
  })
  expect(await accounts.count({ index: 'currency', equals: 'eur' })).toBe(rows)
  expect(migrated).toBeGreaterThan(0)
  expect(migrated).toBeLessThanOrEqual(rows - 600)
  await expectConsistentCounts(accounts, 'owner', ({ owner }) => owner)
}, 60_000)

const canLift = spawnSync('prlimit', ['--version']).status === 0

test('where files cannot grow nothing is lost, reading goes on, and so does writing when they can', async ({
  skip,
}) => {
  skip(!canLift, 'prlimit, which lifts the limit, is not here')
  const limited = 'ulimit -S -f 2000; exec "$@"'
  const args = ['-c', limited, 'sh', process.execPath, script, folder, 'fill']
  const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const said: string[][] = []
  for await (const line of createInterface({ input: child.stdout })) said.push(line.split(' '))
  expect(await ended).toEqual([0, null])
  const words = (first: string) => said.filter(([word]) => word === first).map(([, ...rest]) => rest)
  const numbers = (first: string) => words(first)[0]?.map(Number) ?? []

  const acknowledged = words('put').map(([id]) => id)
  expect(acknowledged.length).toBeGreaterThan(0)
  expect(new Set(words('refused').flat())).toEqual(new Set(['STORE_FAILED']))
  expect(numbers('readable')[0]).toBeGreaterThanOrEqual(acknowledged.length - 1)
  const [depth = 0, readable = 0, appended = 0] = numbers('waiting')
  expect(depth).toBeGreaterThan(0)
  expect(depth + readable).toBe(appended)
  expect(numbers('written')).toEqual([0, appended, 0])

  engine = await openLevel(folder)
  const accounts = engine.collection('accounts', accountOptions)
  const ids = new Set((await collect(accounts.scan())).map(([id]) => id))
  expect(acknowledged.filter((id) => !ids.has(id ?? ''))).toEqual([])
  await expectConsistentCounts(accounts, 'owner', ({ owner }) => owner)
  const events = engine.log('events', eventOptions)
  expect((await events.list({ where: { kind: 'k' } })).total).toBe(appended)
  expect((await events.totals('', '~')).cells[0]?.[1]).toEqual({ events: appended })
}, 60_000)
