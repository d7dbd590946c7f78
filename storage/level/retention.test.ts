import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { Level } from 'level'
import { afterEach, expect, test, vi } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import type { Engine, Log, LogOptions } from '../index.ts'
import { openLevel } from '../level.ts'
import { largestInlineBody } from './chunk.ts'

interface Call {
  readonly id: string
  readonly at: number
  readonly kind: string
  readonly ms: number
}

const options: LogOptions<Call> = {
  id: ({ id }) => id,
  time: ({ at }) => at,
  fields: { kind: ({ kind }) => kind },
  numbers: { ms: ({ ms }) => ms },
}

/** A log with blocks of eight rows, and what it should hold. */
class Kept {
  #engine: Engine
  #log: Log<Call>
  readonly folder: string
  readonly rows = new Map<Call, string | undefined>()

  constructor(folder: string, engine: Engine) {
    this.folder = folder
    this.#engine = engine
    this.#log = engine.log('calls', options)
  }

  static async in(run: (kept: Kept) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(path.join(tmpdir(), 'retention-'))
    const kept = new Kept(folder, await openLevel(folder, { logFormat: { chunkRows: 4, blockRows: 8 } }))
    await run(kept)
      .finally(() => kept.#engine.close())
      .finally(() => rm(folder, { recursive: true, force: true }))
  }

  get log(): Log<Call> {
    return this.#log
  }

  append(row: Call, body?: string): void {
    this.rows.set(row, body)
    this.#log.append(row, () => body)
  }

  /** Forgets rows, or bodies of them, as the log should; returns how many. */
  forget(old: (row: Call) => boolean, what: 'rows' | 'bodies' = 'rows'): number {
    const gone = [...this.rows].filter(([row, body]) => old(row) && (what === 'rows' || body !== undefined))
    for (const [row] of gone) {
      if (what === 'rows') this.rows.delete(row)
      else this.rows.set(row, undefined)
    }
    return gone.length
  }

  async reopen(): Promise<void> {
    await this.#engine.close()
    this.#engine = await openLevel(this.folder)
    this.#log = this.#engine.log('calls', options)
  }

  /** Whether the log answers all questions as its rows say. */
  async check(): Promise<void> {
    const all = [...this.rows.keys()].toReversed()
    expect(await this.#log.list()).toEqual({ items: all, total: all.length })
    for (const kind of ['a', 'b'])
      expect((await this.#log.list({ where: { kind } })).items).toEqual(
        all.filter((row) => row.kind === kind),
      )
    expect((await this.#log.list({ atLeast: { ms: 50 } })).items).toEqual(all.filter(({ ms }) => ms >= 50))
    expect((await this.#log.list({ from: 10, to: 30 })).items).toEqual(
      all.filter(({ at }) => at >= 10 && at < 30),
    )
    for (const [{ id }, body] of this.rows) expect(await this.#log.body(id)).toBe(body)
  }

  /** The keys of the log on disk. */
  async keys(): Promise<string[]> {
    await this.#engine.close()
    const database = new Level<string, string>(this.folder)
    const keys = await database.keys({ gte: 'l/calls!', lt: 'l/calls"' }).all()
    await database.close()
    await this.reopen()
    return keys
  }
}

const aBody = fc.constantFrom<string | undefined>(undefined, 'a body', 'x'.repeat(largestInlineBody + 1))
const anOperation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      rows: fc.integer({ min: 1, max: 12 }),
      body: aBody,
    }),
  },
  fc.record({ do: fc.constantFrom('prune' as const, 'pruneBodies' as const), before: fc.nat({ max: 60 }) }),
  fc.record({ do: fc.constant('erase' as const), kind: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ do: fc.constant('reopen' as const) }),
)

type Operation = typeof anOperation extends fc.Arbitrary<infer T> ? T : never

const append = (rows: number, body: string | undefined): Operation => ({ do: 'append', rows, body })
const large = 'x'.repeat(largestInlineBody + 1)

/** Histories that touch whole blocks, parts of them and the open one; times are multiples of 13, modulo 61. */
const histories: Operation[][] = [
  [
    append(12, 'a body'),
    append(15, large),
    { do: 'pruneBodies', before: 13 },
    { do: 'erase', kind: 'a' },
    { do: 'pruneBodies', before: 26 },
    { do: 'pruneBodies', before: 26 },
    { do: 'prune', before: 13 },
    { do: 'reopen' },
    append(9, 'a body'),
    { do: 'pruneBodies', before: 39 },
    { do: 'erase', kind: 'b' },
    { do: 'prune', before: 61 },
    append(3, large),
    { do: 'reopen' },
  ],
  [
    append(30, large),
    { do: 'prune', before: 52 },
    { do: 'reopen' },
    { do: 'pruneBodies', before: 52 },
    { do: 'pruneBodies', before: 61 },
    append(12, 'a body'),
    { do: 'prune', before: 26 },
    { do: 'erase', kind: 'c' },
    { do: 'erase', kind: 'b' },
  ],
  [
    append(6, 'a body'),
    { do: 'prune', before: 26 },
    { do: 'pruneBodies', before: 52 },
    append(2, 'a body'),
    { do: 'reopen' },
  ],
]

test('whatever is pruned and erased between, the log holds what is left, and says how much went', () =>
  fc.assert(
    fc.asyncProperty(fc.array(anOperation, { maxLength: 12 }), (operations) =>
      Kept.in(async (kept) => {
        let n = 0
        for (const operation of operations) {
          if (operation.do === 'append') {
            for (let left = operation.rows; left > 0; left--, n++) {
              const row = { id: `c${n}`, at: (n * 13) % 61, kind: 'abb'[n % 3]!, ms: (n * 37) % 101 }
              kept.append(row, n % 2 === 1 ? operation.body : undefined)
            }
          } else if (operation.do === 'prune') {
            const { before } = operation
            expect(await kept.log.prune(before)).toBe(kept.forget(({ at }) => at < before))
          } else if (operation.do === 'pruneBodies') {
            const { before } = operation
            expect(await kept.log.pruneBodies(before)).toBe(kept.forget(({ at }) => at < before, 'bodies'))
          } else if (operation.do === 'erase') {
            const isMeant = ({ kind }: Call) => kind === operation.kind
            expect(await kept.log.erase(isMeant)).toBe(kept.forget(isMeant))
          } else await kept.reopen()
          await kept.check()
        }
      }),
    ),
    { ...runs(12), examples: histories.map((history): [Operation[]] => [history]) },
  ))

test('what is pruned leaves nothing on the disk: whole blocks go with all that belongs to them', () =>
  Kept.in(async (kept) => {
    for (let n = 0; n < 20; n++)
      kept.append(
        { id: `c${n}`, at: n, kind: `k${n}`, ms: n },
        n % 2 ? 'x'.repeat(largestInlineBody + 1) : 'small',
      )
    await kept.log.flush()
    const blocks = (keys: readonly string[]) => keys.filter((key) => /^l\/calls![hitpn]/.test(key)).length
    const chunks = (keys: readonly string[]) =>
      keys.flatMap((key) => (/^l\/calls!r/.test(key) ? [Number.parseInt(key.slice(9), 16)] : []))
    expect(blocks(await kept.keys())).toBe(2 * 5)
    expect(await kept.log.prune(8)).toBe(8)
    kept.forget(({ at }) => at < 8)
    expect(blocks(await kept.keys())).toBe(5)
    expect(chunks(await kept.keys())).toEqual([2, 3, 4])
    expect(await kept.log.pruneBodies(100)).toBe(12)
    kept.forget(() => true, 'bodies')
    expect((await kept.keys()).filter((key) => /^l\/calls![by]/.test(key))).toEqual([])
    await kept.check()
    expect(await kept.log.erase(({ at }) => at < 16)).toBe(8)
    kept.forget(({ at }) => at < 16)
    expect(blocks(await kept.keys())).toBe(0)
    expect(chunks(await kept.keys())).toEqual([4])
    expect(await kept.log.prune(100)).toBe(4)
    kept.forget(() => true)
    expect((await kept.keys()).filter((key) => !/^l\/calls![mr]/.test(key))).toEqual([])
    kept.append({ id: 'late', at: 200, kind: 'a', ms: 1 }, 'late body')
    await kept.check()
  }))

test('many blocks are dropped a few at a time, and rows come in between', () =>
  Kept.in(async (kept) => {
    for (let n = 0; n < 20 * 8; n++) kept.append({ id: `c${n}`, at: n, kind: 'a', ms: 0 })
    await kept.log.flush()
    const pruned = kept.log.prune(19 * 8)
    kept.append({ id: 'late', at: 1000, kind: 'b', ms: 0 })
    expect(await pruned).toBe(19 * 8)
    kept.forget(({ at }) => at < 19 * 8)
    await kept.check()
  }))

afterEach(() => {
  vi.restoreAllMocks()
})

/** The blocks whose rows or times are read from now on, and how many batches are written. */
function watchDisk(): { readonly read: Set<number>; batches: number } {
  const seen = { read: new Set<number>(), batches: 0 }
  const rowsOf = { r: 4, b: 4, t: 8 }
  const look = (key: string): void => {
    const [, kind, number] = /^l\/calls!([rbt])(\w+)$/.exec(key) ?? []
    if (number === undefined) return
    seen.read.add(Math.floor((Number.parseInt(number, 16) * rowsOf[kind as 'r' | 'b' | 't']) / 8))
  }
  const { get, getMany, batch } = Level.prototype
  vi.spyOn(Level.prototype, 'get').mockImplementation(function (this: Level, ...given: unknown[]) {
    look(given[0] as string)
    return Reflect.apply(get, this, given)
  } as never)
  vi.spyOn(Level.prototype, 'getMany').mockImplementation(function (this: Level, ...given: unknown[]) {
    for (const key of given[0] as string[]) look(key)
    return Reflect.apply(getMany, this, given)
  } as never)
  vi.spyOn(Level.prototype, 'batch').mockImplementation(function (this: Level, ...given: unknown[]) {
    seen.batches += 1
    return Reflect.apply(batch, this, given)
  } as never)
  return seen
}

test('what is pruned costs no more than what goes: blocks that stay are not read, and those that go as a whole neither', () =>
  Kept.in(async (kept) => {
    // Blocks 0 to 19, of which every second has bodies, and an open one.
    for (let n = 0; n < 20 * 8 + 4; n++)
      kept.append({ id: `c${n}`, at: n, kind: 'a', ms: 0 }, n % 16 < 8 ? 'a body' : undefined)
    await kept.log.flush()
    const disk = watchDisk()
    const open = 20
    const readBy = async (change: () => Promise<number>) => {
      disk.read.clear()
      disk.batches = 0
      return { changed: await change(), read: [...disk.read], batches: disk.batches }
    }
    expect(await readBy(() => kept.log.pruneBodies(40))).toEqual({
      changed: kept.forget(({ at }) => at < 40, 'bodies'),
      read: [0, 2, 4, open],
      batches: 3,
    })
    // Of those blocks all bodies are gone, and block 6 begins with the first that stays.
    expect(await readBy(() => kept.log.pruneBodies(48))).toEqual({ changed: 0, read: [open], batches: 0 })
    expect(await readBy(() => kept.log.prune(80))).toEqual({
      changed: kept.forget(({ at }) => at < 80),
      read: [open],
      batches: 2,
    })
    // All of block 10 but its last row.
    expect(await readBy(() => kept.log.prune(87))).toEqual({
      changed: kept.forget(({ at }) => at < 87),
      read: [10, open],
      batches: 1,
    })
    const { changed, batches } = await readBy(() => kept.log.erase(() => false))
    expect([changed, batches]).toEqual([0, 0])

    // The bodies that an open block has lost are not looked for when it is full.
    expect(await kept.log.pruneBodies(1000)).toBe(kept.forget(() => true, 'bodies'))
    for (let n = 0; n < 8; n++) kept.append({ id: `d${n}`, at: 1000, kind: 'a', ms: 0 })
    await kept.log.flush()
    expect(await readBy(() => kept.log.pruneBodies(2000))).toEqual({
      changed: 0,
      read: [open + 1],
      batches: 0,
    })
    await kept.reopen()
    for (let n = 8; n < 16; n++) kept.append({ id: `d${n}`, at: 1000, kind: 'a', ms: 0 })
    await kept.log.flush()
    expect((await readBy(() => kept.log.pruneBodies(2000))).read).toEqual([open + 2])
    await kept.check()
  }))

test('what is pruned while rows are erased is counted once, and nothing else goes', () =>
  Kept.in(async (kept) => {
    for (let n = 0; n < 30 * 8 + 3; n++)
      kept.append({ id: `c${n}`, at: n, kind: 'ab'[n % 2]!, ms: 0 }, 'a body')
    await kept.log.flush()
    const [erased, stripped, pruned] = await Promise.all([
      kept.log.erase(({ kind }) => kind === 'a'),
      kept.log.pruneBodies(200),
      kept.log.prune(100),
    ])
    expect(erased + pruned).toBe(kept.forget(({ at, kind }) => at < 100 || kind === 'a'))
    expect(stripped).toBeGreaterThanOrEqual(kept.forget(({ at }) => at < 200, 'bodies'))
    await kept.check()
  }))
