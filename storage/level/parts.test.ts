import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { withEngine } from '../conformance/harness.ts'
import { openLevel } from '../level.ts'
import { bodyOf, type Event, eventOptions, Link, linkAfter } from './crash-parts.ts'
import { Gate } from './gate.ts'
import { type Database, GroupCommit } from './group-commit.ts'
import { Parts } from './parts.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('what runs when the gate is held can end, however many parts it looks into', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parts-'))
  const database: Database = new Level<string, string>(folder)
  await database.open()
  const gate = new Gate()
  const backing = { database, writer: new GroupCommit(database), gate, report: () => {} }
  const parts = new Parts(backing, { chunkRows: 4, blockRows: 16 })
  const log = parts.log<Event>('events', eventOptions)
  log.append({ id: 'e', at: 1, kind: 'k' })
  await log.flush()
  const running = parts.contents('')
  const held = gate.hold()
  expect(await running).toEqual([{ kind: 'log', path: 'events', entries: 1 }])
  await held
  gate.release()
  await parts.close(async () => {})
  await rm(folder, { recursive: true })
})

const named = z.object({ name: z.string() })
const counted = z.object({ n: z.number() })

test('options that come later hold for every handle of a name', () =>
  withEngine(openLevel, async ({ engine }) => {
    const rows = engine.collection('rows', { schema: counted })
    await rows.put('1', { n: 1 })
    engine.collection<unknown>('rows', { schema: named })
    await expect(rows.put('2', { n: 2 })).rejects.toMatchObject({ code: 'ROW_INVALID' })
    const log = engine.log<Event>('events', { ...eventOptions, flushMs: 60_000 })
    engine.log<Event>('events', { ...eventOptions, maxQueueBytes: 1 })
    log.append({ id: 'e', at: 1, kind: 'k' })
    expect(log.status().dropped).toBe(1)
    expect(await engine.counters('use')).toBe(await engine.counters('use'))
  }))

test('counters that could not be loaded are loaded when they are asked for again', () =>
  withEngine(openLevel, async ({ engine }) => {
    const cause = new Error('the disk is away')
    vi.spyOn(Level.prototype, 'iterator').mockImplementationOnce(() => {
      throw cause
    })
    await expect(engine.counters('use')).rejects.toBe(cause)
    const counters = await engine.counters('use')
    counters.add('calls', 1)
    await counters.flush()
    expect(await engine.contents('')).toEqual([{ kind: 'counters', path: 'use', entries: 1 }])
  }))

test('flushing a namespace writes the entries that wait in it, and none beside it', () =>
  withEngine(openLevel, async ({ engine }) => {
    const [inside, beside] = ['part', 'part-b'].map((name) => engine.namespace(name).sequence('chain', Link))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    inside!.queue(linkAfter)
    beside!.queue(linkAfter)
    await engine.namespace('part').flush()
    expect([inside!.status().depth, beside!.status().depth]).toEqual([0, 1])
  }))

test('erasing what lies under a name leaves the handles of everything else in use', () =>
  withEngine(openLevel, async ({ engine }) => {
    const rows = engine.namespace('b').collection('rows', { schema: counted })
    const files = engine.namespace('b').bodies('files')
    await engine.namespace('a').collection('rows', { schema: counted }).put('1', { n: 1 })
    await engine.erase('a/')
    await rows.put('1', { n: 1 })
    await files.write('note', bodyOf('seed', 10))
    const paths = (await engine.contents('')).map((part) => part.path)
    expect(paths[0]).toMatch(/^b\/bodies\/files\//)
    expect([paths.includes('b/rows'), paths.some((at) => at.startsWith('a'))]).toEqual([true, false])
  }))
