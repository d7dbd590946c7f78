import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Claim, Limit } from '#kernel'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { runs } from '../../test/suite/runs.ts'
import { Ledger } from './ledger.ts'
import { emptyLedger } from './ledger-state.ts'
import { Saved } from './saved.ts'

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-counts-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

/** A ledger on a part of the store, as one process has it after another. */
function processOn(part: string, clock: { at: number }, on: Engine = engine) {
  const state = emptyLedger()
  const ledger = new Ledger(state, () => ({ at: clock.at, wall: clock.at }))
  const saved = new Saved(on.namespace(part), ledger, state)
  const reserve = (claim: Claim) => ledger.reserve({ budget: 'b', claims: [claim], owner: 'thr' }, 1)
  return { state, ledger, saved, reserve }
}

let parts = 0
const newPart = (): string => {
  parts += 1
  return `part-${parts}`
}

const limits: readonly Limit[] = [
  { kind: 'concurrency', most: 50 },
  { kind: 'sliding', most: 50, windowMs: 6_000 },
  { kind: 'bucket', most: 50, windowMs: 6_000, burst: 50 },
  { kind: 'day', most: 50, timezone: 'Asia/Kolkata' },
  { kind: 'month', most: 50, timezone: 'UTC' },
]
const aName = fc.constantFrom('k', 'naïve', 'a\u0000b', 'x'.repeat(5_000), '!', '\ud800')
const aCount = fc.record({ limit: fc.constantFrom(...limits), name: aName })
const aStep = fc.record({
  /** Of two counts. */
  of: fc.nat({ max: 1 }),
  amount: fc.integer({ min: 0, max: 9 }),
  ms: fc.nat({ max: 900 }),
  settles: fc.option(fc.integer({ min: 0, max: 12 })),
  writes: fc.boolean(),
})

test('another process begins with what was settled, and with nothing that was only reserved', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(aCount, aCount), fc.array(aStep, { maxLength: 30 }), async (counts, steps) => {
      const part = newPart()
      const clock = { at: Date.UTC(2026, 4, 5, 12) }
      const before = processOn(part, clock)
      for (const { of, amount, ms, settles, writes } of steps) {
        const answer = before.reserve({ ...counts[of]!, unit: 'u', amount })
        if (answer.granted && settles !== null) before.ledger.settle(answer.id, { u: settles })
        clock.at += ms
        if (writes) await before.saved.write()
      }
      before.ledger.sweep()
      await before.saved.flush()
      const after = processOn(part, clock)
      await after.saved.load()
      before.ledger.lose(1)
      const claims = counts.map((count) => ({ ...count, unit: 'u', amount: 1 }))
      expect(after.ledger.left('b', claims)).toEqual(before.ledger.left('b', claims))
    }),
    runs(30),
  )
})

test('a count that is as if it had never been leaves the disk', async () => {
  const part = newPart()
  const clock = { at: Date.UTC(2026, 4, 5, 12) }
  const one = processOn(part, clock)
  const held = one.reserve({ name: 'k', unit: 'u', limit: limits[1]!, amount: 5 })
  if (held.granted) one.ledger.settle(held.id, {})
  await one.saved.flush()
  expect(await engine.contents(part)).toMatchObject([{ kind: 'collection', entries: 1 }])
  clock.at += 10_000
  one.ledger.sweep()
  await one.saved.flush()
  expect(await engine.contents(part)).toMatchObject([{ entries: 0 }])
  expect(one.state.counts.size).toBe(0)
})

test('a count that another process left on the disk leaves it when it is over', async () => {
  const part = newPart()
  const clock = { at: Date.UTC(2026, 4, 5, 12) }
  const before = processOn(part, clock)
  const held = before.reserve({ name: 'k', unit: 'u', limit: limits[1]!, amount: 5 })
  if (held.granted) before.ledger.settle(held.id, {})
  await before.saved.flush()
  const after = processOn(part, clock)
  await after.saved.load()
  clock.at += 10_000
  after.ledger.sweep()
  await after.saved.flush()
  expect(await engine.contents(part)).toMatchObject([{ entries: 0 }])
})

test.each(limits.filter(({ kind }) => kind !== 'bucket'))(
  'of a count of the kind $kind of which nothing was used nothing is on the disk',
  async (limit) => {
    const part = newPart()
    const one = processOn(part, { at: Date.UTC(2026, 4, 5, 12) })
    const given = one.reserve({ name: 'k', unit: 'u', limit, amount: 5 })
    one.reserve({ name: 'k', unit: 'u', limit, amount: 3 })
    if (given.granted) one.ledger.settle(given.id, { u: 0 })
    await one.saved.flush()
    expect((await engine.contents(part)).reduce((sum, { entries }) => sum + entries, 0)).toBe(0)
  },
)

test.each([
  ['in a window', limits[1]!, 61 * 100],
  ['in a day', limits[3]!, 24 * 3_600_000],
])('what was reserved %s that is over takes nothing from what is kept', async (_, limit, ms) => {
  const part = newPart()
  const clock = { at: Date.UTC(2026, 4, 5, 12) }
  const before = processOn(part, clock)
  const claim = { name: 'k', unit: 'u', limit, amount: 5 }
  before.reserve(claim)
  clock.at += ms
  const held = before.reserve({ ...claim, amount: 7 })
  if (held.granted) before.ledger.settle(held.id, {})
  await before.saved.flush()
  const after = processOn(part, clock)
  await after.saved.load()
  for (const { ledger } of [before, after]) expect(ledger.left('b', [claim])).toMatchObject([{ used: 7 }])
})

test('what was reserved in the first moment of a day is not kept as used', async () => {
  const part = newPart()
  const clock = { at: Date.UTC(2026, 4, 5) }
  const limit: Limit = { kind: 'day', most: 50, timezone: 'UTC' }
  const before = processOn(part, clock)
  const claim = { name: 'k', unit: 'u', limit, amount: 5 }
  before.reserve(claim)
  const held = before.reserve({ ...claim, amount: 7 })
  if (held.granted) before.ledger.settle(held.id, {})
  await before.saved.flush()
  const after = processOn(part, clock)
  await after.saved.load()
  expect(after.ledger.left('b', [claim])).toMatchObject([{ used: 7 }])
})

test('no more than 2,000 counts are written in one go, and the others in the next', async () => {
  const part = newPart()
  const one = processOn(part, { at: Date.UTC(2026, 4, 5, 12) })
  for (let n = 0; n < 2_001; n++) one.reserve({ name: `k${n}`, unit: 'u', limit: limits[2]!, amount: 5 })
  await one.saved.write()
  expect(await engine.contents(part)).toMatchObject([{ entries: 2_000 }])
  await one.saved.write()
  expect(await engine.contents(part)).toMatchObject([{ entries: 2_001 }])
})

test('what the disk refuses is written later', async () => {
  const own = await mkdtemp(path.join(tmpdir(), 'switchyard-counts-'))
  const closed = await openLevel(own)
  const part = newPart()
  const clock = { at: Date.UTC(2026, 4, 5, 12) }
  const one = processOn(part, clock, closed)
  one.reserve({ name: 'k', unit: 'u', limit: limits[2]!, amount: 5 })
  await closed.close()
  await expect(one.saved.flush()).rejects.toThrow()
  expect(one.state.dirty.size).toBe(1)
  const again = new Saved(engine.namespace(part), one.ledger, one.state)
  await again.flush()
  expect(await engine.contents(part)).toMatchObject([{ entries: 1 }])
  await rm(own, { recursive: true, force: true })
})

test('after the clock was set back by an hour, a window and a bucket are over when they would have been', async () => {
  const part = newPart()
  const clock = { at: Date.UTC(2026, 4, 5, 12) }
  const before = processOn(part, clock)
  const claims = limits.slice(1, 3).map((limit) => ({ name: 'k', unit: 'u', limit, amount: 50 }))
  for (const claim of claims) {
    const held = before.reserve(claim)
    if (held.granted) before.ledger.settle(held.id, {})
  }
  await before.saved.flush()
  clock.at -= 3_600_000
  const after = processOn(part, clock)
  await after.saved.load()
  for (const { retryMs } of after.ledger.left('b', claims)) {
    expect(retryMs).toBeGreaterThanOrEqual(6_000)
    expect(retryMs).toBeLessThanOrEqual(6_100)
  }
})
