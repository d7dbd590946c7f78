import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Engine } from '../index.ts'
import { openLevel } from '../level.ts'
import { accountOptions, type Event, eventOptions, Link, linkAfter } from './crash-parts.ts'

let folder: string
let engine: Engine
/** Of each batch that LevelDB wrote, whether it was fsynced. */
let synced: boolean[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'durability-'))
  engine = await openLevel(folder, { logFormat: { chunkRows: 4, blockRows: 8 } })
  synced = []
  const batch = Level.prototype.batch as (...given: readonly unknown[]) => Promise<void>
  vi.spyOn(Level.prototype, 'batch').mockImplementation(async function (
    this: unknown,
    ...given: readonly unknown[]
  ) {
    await batch.apply(this, [...given])
    synced.push((given[1] as { sync: boolean }).sync)
  } as never)
})

afterEach(async () => {
  vi.restoreAllMocks()
  await engine.close()
  await rm(folder, { recursive: true })
})

const never = 60_000
const append = (part: ReturnType<Engine['namespace']>) => {
  const log = part.log<Event>('events', { ...eventOptions, flushMs: never })
  log.append({ id: 'e', at: 1, kind: 'k' }, () => 'body')
  return log
}
/** Two blocks, and no row in an open one. */
const appendBlocks = async () => {
  const log = engine.log<Event>('events', { ...eventOptions, flushMs: never })
  for (let at = 0; at < 16; at++) log.append({ id: `e${at}`, at, kind: 'k' }, () => 'body')
  await log.flush()
  synced = []
  return log
}
const count = async () => {
  const counters = await engine.counters('use')
  counters.add('calls', 1)
  return counters
}

const acknowledged: Readonly<Record<string, () => Promise<unknown>>> = {
  'a row': () => engine.collection('accounts', accountOptions).put('id', { owner: 'o', balance: 1 }),
  'a row that is new': () =>
    engine.collection('accounts', accountOptions).create('id', { owner: 'o', balance: 1 }),
  'an entry of a sequence': () => engine.sequence('chain', Link).append(linkAfter),
  'a transaction, in one batch': async () => {
    const accounts = engine.collection('accounts', accountOptions)
    await accounts.count()
    synced = []
    await engine.transaction((tx) => {
      for (let n = 0; n < 10; n++) tx.put(accounts, `id${n}`, { owner: 'o', balance: n })
      for (let n = 0; n < 10; n++) tx.append(engine.sequence('chain', Link), linkAfter)
    })
    expect(synced).toHaveLength(1)
  },
  'a transaction that only appends': () =>
    engine.transaction((tx) => tx.append(engine.sequence('chain', Link), linkAfter)),
  'the flush of a queue': async () => {
    const chain = engine.sequence('chain', Link)
    chain.queue(linkAfter)
    expect(await chain.last()).toBe(1)
    expect(synced).toEqual([false])
    await chain.flush()
  },
  'the flush of a log': () => append(engine).flush(),
  'the flush of a log that a query had written': async () => {
    const log = append(engine)
    await log.list()
    expect(synced).toEqual([false])
    await log.flush()
  },
  'the flush of counters': async () => (await count()).flush(),
  'the flush of a store': async () => {
    append(engine)
    await count()
    await engine.flush()
  },
  'the flush of a namespace': async () => {
    append(engine.namespace('part'))
    await engine.namespace('part').flush()
  },
  'the deletion of rows of a log': async () => {
    const log = append(engine)
    expect(await log.erase(() => true)).toBe(1)
  },
  'the deletion of rows of a full block': async () => {
    const log = await appendBlocks()
    expect(await log.erase(({ at }) => at === 1)).toBe(1)
  },
  'the deletion of full blocks': async () => {
    const log = await appendBlocks()
    expect(await log.prune(8)).toBe(8)
  },
  'the deletion of bodies': async () => {
    const log = append(engine)
    expect(await log.pruneBodies(100)).toBe(1)
  },
  'the deletion of bodies of a full block': async () => {
    const log = await appendBlocks()
    expect(await log.pruneBodies(1)).toBe(1)
  },
  closing: async () => {
    append(engine)
    await count()
    await engine.close()
  },
}

test.for(Object.entries(acknowledged))('%s is on disk when it is acknowledged', async ([, run]) => {
  await run()
  expect(synced.at(-1)).toBe(true)
})
