import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Cap, Counting, Figures, type SpendClaim } from '#kernel'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { runs } from '../../test/suite/runs.ts'
import { CapCounts } from './counts.ts'
import { Periods } from './periods.ts'
import { Told } from './told.ts'

/** Counts on the gateway's own budgets and figures, and on a store of what was told. */

const most = 1_000
const leaseMs = 60_000

let folder: string
let engine: Engine
let gateway: TestGateway
let counts: CapCounts
let periods: Periods
let told: string[]
let tests = 0

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-spend-'))
  engine = await openLevel(path.join(folder, 'db'))
  gateway = await startGateway({})
})

beforeEach(() => {
  tests += 1
  told = []
  counts = start()
})

afterAll(async () => {
  await gateway.close()
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

/** As after a restart of the plugin, with what was told before. */
function start(): CapCounts {
  const budget = (by: string) => gateway.kernel.service(Counting)!.budget(`${by} ${tests}`)
  periods = new Periods({ budget, figures: () => gateway.kernel.service(Figures)! })
  const emit = ({ name }: { name: string }, data: unknown) =>
    told.push(`${name} ${(data as { percent?: number }).percent ?? ''}`.trim())
  const store = engine.namespace(`told-${tests}`)
  const parts = { store, emit } as unknown as ConstructorParameters<typeof Told>[0]
  return new CapCounts({ budget, periods, told: new Told(parts), open: new Map(), recent: new Map() })
}

const capOf = (more: Partial<Cap> = {}): Cap => ({
  scope: 'user',
  holder: 'usr_1',
  period: 'daily',
  mostNano: most,
  timezone: 'UTC',
  action: 'block',
  notifyAt: [50, 100],
  ownKeys: true,
  ...more,
})

const claimOf = (nano: number, more: Partial<SpendClaim> = {}): SpendClaim => ({
  by: 'counts',
  caps: [capOf()],
  nano,
  leaseMs,
  ...more,
})

const settle = (claim: SpendClaim, id: string | undefined, nano: number, ownKey = false) =>
  counts.settle({ claim, id, used: { nano, model: 'openai/m', ownKey } })

async function standing(caps: readonly Cap[] = [capOf()]) {
  const [{ spentNano, reservedNano } = { spentNano: -1, reservedNano: -1 }] = await counts.standings(
    'counts',
    caps,
  )
  return [spentNano, reservedNano]
}

/** A call: its estimate, what it costs in the end, and how long others go before it ends. */
const anyCall = fc.record({ nano: fc.nat(300), used: fc.nat(100), rank: fc.nat(1_000), isDear: fc.boolean() })

test('whatever calls reserve and cost, in whatever order, a cap is passed only by what calls cost beyond their estimates', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyCall, { maxLength: 40 }), async (calls) => {
      tests += 1
      counts = start()
      const going = await Promise.all(
        calls.map(async ({ nano, used, rank, isDear }) => {
          const claim = claimOf(nano)
          const answer = await counts.reserve(claim, 1)
          // A tenth of the calls cost more than was thought.
          const cost = isDear && rank % 10 === 0 ? nano + used : Math.min(nano, used)
          return { claim, answer, cost, nano, rank }
        }),
      )
      const granted = going.filter(({ answer }) => answer.granted).sort((a, b) => a.rank - b.rank)
      expect(granted.reduce((sum, { nano }) => sum + nano, 0)).toBeLessThanOrEqual(most)
      for (const { answer, nano } of going) if (!answer.granted) expect(nano).toBeGreaterThan(0)
      for (const { claim, answer, cost } of granted) await settle(claim, answer.id, cost)
      const cost = granted.reduce((sum, call) => sum + call.cost, 0)
      const excess = granted.reduce((sum, call) => sum + Math.max(0, call.cost - call.nano), 0)
      expect(await standing()).toEqual([cost, 0])
      expect(cost).toBeLessThanOrEqual(most + excess)
    }),
    runs(25),
  )
})

test('a claim below a share is granted to exactly those that find less of the cap used, however many ask at once', async () => {
  const asks = fc.array(fc.nat(300), { minLength: 1, maxLength: 40 })
  const share = fc.double({ min: 0.001, max: 1, noNaN: true })
  await fc.assert(
    fc.asyncProperty(asks, share, async (amounts, below) => {
      tests += 1
      counts = start()
      const caps = [capOf({ action: 'downgrade' })]
      const answers = await Promise.all(
        amounts.map((nano) => counts.reserve(claimOf(nano, { caps, below: [below] }), 1)),
      )
      let used = 0
      for (const [n, { granted, isPassed, nano, standings }] of answers.entries()) {
        expect([n, granted, isPassed ?? false]).toEqual([n, used / most < below, used / most >= below])
        expect(nano).toBe(amounts[n])
        if (granted) used += Math.max(1, nano)
        expect(standings[0]!.reservedNano).toBe(used)
      }
    }),
    runs(25),
  )
})

test('a claim that a cap blocks is answered as passed where another cap is used beyond its share', async () => {
  const day = capOf()
  const month = capOf({ period: 'monthly', mostNano: 500, action: 'warn' })
  const caps = [day, month]
  await counts.reserve(claimOf(400, { caps }), 1)
  const dear = (below: number) => counts.reserve(claimOf(700, { caps, below: [below, below] }), 1)
  expect(await dear(0.9)).toMatchObject({ granted: false, refusedBy: 0 })
  expect(await dear(0.8)).toMatchObject({ granted: false, isPassed: true })
  expect(await dear(0.8)).not.toHaveProperty('refusedBy')
})

test('a reservation is given back after its lease, and a call that ends later still counts', async () => {
  const claim = claimOf(400, { leaseMs: 30 })
  const { id } = await counts.reserve(claim, 1)
  expect(await standing()).toEqual([0, 400])
  await expect.poll(() => standing()).toEqual([0, 0])
  await settle(claim, id, 350)
  expect(await standing()).toEqual([350, 0])
})

test('a thread that ends leaves nothing reserved, and others keep what they have', async () => {
  await counts.reserve(claimOf(100), 2)
  const other = claimOf(200)
  const { id } = await counts.reserve(other, 3)
  expect(await standing()).toEqual([0, 300])
  await counts.lose(2)
  expect(await standing()).toEqual([0, 200])
  await settle(other, id, 150)
  expect(await standing()).toEqual([150, 0])
})

describe('several caps', () => {
  test('grant all or none, and the one that refuses is named', async () => {
    const day = capOf()
    const month = capOf({ period: 'monthly', mostNano: 500 })
    const { granted, refusedBy } = await counts.reserve(claimOf(600, { caps: [day, month] }), 1)
    expect([granted, refusedBy, await standing([day]), await standing([month])]).toEqual([
      false,
      1,
      [0, 0],
      [0, 0],
    ])
  })

  test('of one holder and period share a count, and the lower one holds', async () => {
    const caps = [capOf(), capOf({ mostNano: 500 }), capOf({ mostNano: 100, action: 'warn' })]
    const claim = claimOf(400, { caps })
    const { granted, id, standings } = await counts.reserve(claim, 1)
    expect([granted, standings.map(({ reservedNano }) => reservedNano)]).toEqual([true, [400, 400, 400]])
    expect(await counts.reserve(claimOf(101, { caps }), 1)).toMatchObject({ granted: false, refusedBy: 1 })
    await settle(claim, id, 300)
    expect(await standing(caps)).toEqual([300, 0])
  })

  test("count users' own keys only where they say so", async () => {
    const caps = [capOf(), capOf({ ownKeys: false })]
    const claim = claimOf(400, { caps })
    const { id } = await counts.reserve(claim, 1)
    await settle(claim, id, 300, true)
    expect([await standing([caps[0]!]), await standing([caps[1]!])]).toEqual([
      [300, 0],
      [0, 0],
    ])
  })
})

test('caps of one holder and period are told each, whatever the other has told', async () => {
  const soft = capOf({ mostNano: 500, action: 'warn', notifyAt: [100] })
  const claim = claimOf(600, { caps: [capOf({ notifyAt: [50] }), soft] })
  const spend = async (nano: number) => settle(claim, (await counts.reserve({ ...claim, nano }, 1)).id, nano)
  await spend(600)
  expect(told).toEqual(['cost.threshold 50', 'cost.threshold 100', 'spend.cap_exceeded'])
  await spend(400)
  expect(told.slice(3)).toEqual(['spend.cap_exceeded'])
})

test('what was told is not told again after a restart, and is in the next period', async () => {
  const claim = claimOf(600)
  const spend = async () => settle(claim, (await counts.reserve(claim, 1)).id, 600)
  await spend()
  expect(told).toEqual(['cost.threshold 50'])
  counts = start()
  await settle(claim, undefined, 0)
  expect((await counts.reserve(claim, 1)).granted).toBe(false)
  await expect.poll(() => told).toEqual(['cost.threshold 50', 'spend.cap_exceeded'])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 })
  try {
    await spend()
    expect(told).toEqual(['cost.threshold 50', 'spend.cap_exceeded', 'cost.threshold 50'])
  } finally {
    vi.useRealTimers()
  }
})

test('counts that are no longer used are forgotten, and those in use are compared again', async () => {
  const since = vi.spyOn(gateway.kernel.service(Figures)!, 'since')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2034, 0, 5, 12) })
  try {
    const claim = claimOf(1)
    await counts.reserve(claim, 1)
    expect(since).toHaveBeenCalledTimes(1)
    await counts.reserve(claim, 1)
    vi.setSystemTime(Date.now() + 31_000)
    await periods.upkeep()
    expect(since).toHaveBeenCalledTimes(2)
    vi.setSystemTime(Date.now() + 31_000)
    await periods.upkeep()
    vi.setSystemTime(Date.now() + 31_000)
    await periods.upkeep()
    expect(since).toHaveBeenCalledTimes(2)
    await counts.reserve(claim, 1)
    expect(since).toHaveBeenCalledTimes(3)
  } finally {
    vi.useRealTimers()
    since.mockRestore()
  }
})
