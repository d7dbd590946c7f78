import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Claim, Held, Limit, Refusal } from '#kernel'
import { Ledger } from './ledger.ts'
import { emptyLedger, type LedgerState } from './ledger-state.ts'

/** A ledger, a clock that stands still, and what a brute-force count of what was granted comes to. */
function world(state: LedgerState = emptyLedger(), start = Date.UTC(2026, 2, 28, 12)) {
  const clock = { at: start }
  const ledger = new Ledger(state, () => ({ at: clock.at, wall: clock.at }))
  const reserve = (
    claims: readonly Claim[],
    {
      thread = 1,
      owner = `thr_${thread}`,
      ...more
    }: { thread?: number; owner?: string; leaseMs?: number } = {},
  ) => ledger.reserve({ budget: 'b', claims, owner, ...more }, thread)
  return { state, clock, ledger, reserve }
}

const claimOf = (limit: Limit, amount = 1, name = 'k'): Claim => ({ name, unit: 'u', limit, amount })
const granted = (answer: Held | Refusal): answer is Held => answer.granted

const most = 10
const limits: Readonly<Record<string, Limit>> = {
  'at a time': { kind: 'concurrency', most },
  'in a sliding window': { kind: 'sliding', most, windowMs: 6_000 },
  'of a bucket': { kind: 'bucket', most, windowMs: 6_000, burst: 5 },
  'in a day': { kind: 'day', most, timezone: 'Europe/Berlin' },
}

/** What was granted: at which time, how much of it counts, and since when it is over. */
interface Event {
  readonly at: number
  amount: number
  isOver: boolean
}

const hourMs = 3_600_000
/** Of the world's first days in Berlin: the clocks go forward on the second, which has 23 hours. */
const midnights = [27, 28, 29, 30, 31].map((day) => Date.UTC(2026, 2, day, 23) - (day >= 29 ? hourMs : 0))
const dayOf = (at: number): number => midnights.findLastIndex((midnight) => midnight <= at)

/** How much a brute-force count has now, and the most that a limit may take it for. */
function sums(limit: Limit, events: readonly Event[], now: number): [least: number, most: number] {
  const sum = (among: (event: Event) => boolean): number =>
    events.filter(among).reduce((all, { amount }) => all + amount, 0)
  if (limit.kind === 'concurrency') return [sum(({ isOver }) => !isOver), sum(({ isOver }) => !isOver)]
  if (limit.kind === 'sliding') {
    const within = (ms: number) => sum(({ at }) => at > now - ms)
    return [within(limit.windowMs), within(limit.windowMs + Math.ceil(limit.windowMs / 60))]
  }
  if (limit.kind === 'bucket') {
    let level = 0
    let since = 0
    for (const { at, amount } of events) {
      level = Math.max(0, level - ((at - since) * limit.most) / limit.windowMs) + amount
      since = at
    }
    const left =
      Math.max(0, level - ((now - since) * limit.most) / limit.windowMs) + (limit.most - limit.burst)
    return [left - 1e-6, left + 1e-6]
  }
  const today = sum(({ at }) => dayOf(at) === dayOf(now))
  return [today, today]
}

const aStep = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      amount: fc.integer({ min: 0, max: most + 1 }),
      thread: fc.integer({ min: 1, max: 4 }),
      leaseMs: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      which: fc.nat({ max: 20 }),
      share: fc.constantFrom(0, 0.3, 1),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 4_000 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('sleep' as const), hours: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('lose' as const), thread: fc.integer({ min: 2, max: 4 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('sweep' as const) }) },
)

describe.each(Object.entries(limits))('%s', (_, limit) => {
  test('no order of reserving, settling, expiring and losing threads passes a limit, or keeps back what is free', () => {
    fc.assert(
      fc.property(fc.array(aStep, { maxLength: 60 }), (steps) => {
        const { clock, ledger, reserve } = world()
        const events: Event[] = []
        let open: { id: string; thread: number; due: number; amount: number; event: Event }[] = []
        /** A thread that has ended is replaced by one with its number. */
        let lost = 0
        const over = (one: (typeof open)[number], used: number): void => {
          one.event.isOver = true
          // An amount that flowed back into a bucket looks the same as one that was never taken.
          if (limit.kind !== 'bucket') one.event.amount = used
          open = open.filter((other) => other !== one)
        }
        for (const step of steps) {
          if (step.do === 'wait') clock.at += step.ms
          if (step.do === 'sleep' && clock.at < midnights[3]!) clock.at += step.hours * hourMs
          if (step.do === 'sweep') ledger.sweep()
          if (step.do === 'lose') {
            ledger.lose(step.thread)
            for (const one of open.filter(({ thread }) => thread === step.thread)) over(one, 0)
            lost += 1
          }
          if (step.do === 'settle') {
            for (const one of open.filter(({ due }) => due <= clock.at)) over(one, 0)
            const one = open[step.which]
            if (!one) continue
            const used = Math.floor(one.amount * step.share)
            expect(ledger.settle(one.id, { u: used })).toBe(true)
            expect(ledger.settle(one.id, { u: 0 })).toBe(false)
            over(one, used)
          }
          if (step.do !== 'reserve') continue
          const { amount, thread, leaseMs } = step
          for (const one of open.filter(({ due }) => due <= clock.at)) over(one, 0)
          const [least, greatest] = sums(limit, events, clock.at)
          const answer = reserve([claimOf(limit, amount)], {
            thread,
            owner: `${thread}.${lost}`,
            ...(leaseMs && { leaseMs }),
          })
          if (least + amount > most) expect(answer.granted).toBe(false)
          if (greatest + amount <= most) expect(answer.granted).toBe(true)
          if (!granted(answer)) continue
          const event = { at: clock.at, amount, isOver: false }
          events.push(event)
          const due = leaseMs === undefined ? Number.POSITIVE_INFINITY : clock.at + leaseMs
          open.push({ id: answer.id, thread, due, amount, event })
        }
      }),
    )
  })

  test('who comes back when he is told to is granted, and nobody who comes a millisecond sooner', () => {
    const taken = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.nat({ max: 2_000 })), {
      maxLength: 20,
    })
    fc.assert(
      fc.property(taken, fc.integer({ min: 0, max: most + 2 }), (before, amount) => {
        const { state, clock, reserve } = world()
        for (const [taken, ms] of before) {
          const answer = reserve([claimOf(limit, taken)])
          if (granted(answer) && limit.kind === 'concurrency') world(state).ledger.settle(answer.id, {})
          clock.at += ms
        }
        const refused = reserve([claimOf(limit, amount)])
        if (granted(refused)) return
        const able = 'burst' in limit ? limit.burst : most
        expect(refused.retryMs === undefined).toBe(amount > able)
        if (refused.retryMs === undefined) return
        const at = (ms: number) =>
          world(structuredClone(state), clock.at + ms).reserve([claimOf(limit, amount)])
        expect(at(Math.ceil(refused.retryMs)).granted).toBe(true)
        expect(at(Math.ceil(refused.retryMs) - 1).granted).toBe(false)
      }),
    )
  })
})

test('several claims are granted together or not at all, and the one that is refused for longest is named', () => {
  const { reserve, ledger } = world()
  const calls = claimOf({ kind: 'concurrency', most: 2 })
  const tokens = claimOf({ kind: 'sliding', most: 100, windowMs: 60_000 }, 60)
  expect(granted(reserve([calls, tokens]))).toBe(true)
  const refused = reserve([calls, tokens])
  expect(refused).toMatchObject({ granted: false, claim: 1, retryMs: 61_000 })
  expect(reserve([calls, claimOf(tokens.limit, 101)])).toMatchObject({ claim: 1, retryMs: undefined })
  expect(ledger.left('b', [calls]).map(({ used }) => used)).toEqual([1])
})

test('claims on one count are looked at together', () => {
  const { reserve, ledger } = world()
  const half = claimOf({ kind: 'concurrency', most: 10 }, 6)
  expect(reserve([half, half])).toMatchObject({ granted: false, claim: 1 })
  const less = claimOf(half.limit, 5)
  const both = reserve([less, less])
  expect(both).toMatchObject({ granted: true, left: [{ remaining: 0 }, { remaining: 0 }] })
  if (granted(both)) ledger.settle(both.id, {})
  expect(ledger.left('b', [half])).toMatchObject([{ used: 0 }])
})

test('another limit on the same count refills nothing; another window, unit, name or budget is another count', () => {
  const { reserve, ledger } = world()
  const day: Limit = { kind: 'day', most: 5, timezone: 'UTC' }
  reserve([claimOf(day, 5)])
  const used = (claim: Claim, budget = 'b') => ledger.left(budget, [claim])[0]!.used
  expect(used(claimOf({ ...day, most: 9 }))).toBe(5)
  expect(used(claimOf({ ...day, kind: 'month' }))).toBe(0)
  expect(used(claimOf({ ...day, timezone: 'Asia/Kolkata' }))).toBe(0)
  expect(used(claimOf(day, 1, 'other'))).toBe(0)
  expect(used({ ...claimOf(day), unit: 'other' })).toBe(0)
  expect(used(claimOf(day), 'other')).toBe(0)
  for (const limit of [
    { kind: 'sliding', most: 5, windowMs: 6_000 } as const,
    { kind: 'bucket', most: 5, windowMs: 6_000, burst: 5 } as const,
  ]) {
    reserve([claimOf(limit, 5)])
    expect(used(claimOf({ ...limit, most: 9 }))).toBe(5)
    expect(used(claimOf({ ...limit, windowMs: 12_000 }))).toBe(0)
  }
})

test('what is used beyond the reservation counts, also when the limit is passed by it', () => {
  const { reserve, ledger, clock } = world()
  const claim = claimOf({ kind: 'sliding', most: 100, windowMs: 60_000 }, 10)
  const first = reserve([claim])
  clock.at += 30_000
  if (granted(first)) ledger.settle(first.id, { u: 120 })
  expect(ledger.left('b', [claim])).toMatchObject([{ used: 120, remaining: 0, retryMs: 61_000 }])
})

test('what was reserved yesterday is not given back today, and what was used beyond it counts today', () => {
  const { reserve, ledger, clock } = world(undefined, Date.UTC(2026, 5, 1, 23, 59))
  const claim = claimOf({ kind: 'day', most: 100, timezone: 'UTC' }, 40)
  const [low, high] = [reserve([claim]), reserve([claim])]
  clock.at += 120_000
  reserve([claimOf(claim.limit, 7)])
  if (granted(low)) ledger.settle(low.id, { u: 0 })
  if (granted(high)) ledger.settle(high.id, { u: 45 })
  expect(ledger.left('b', [claim])).toMatchObject([{ used: 12 }])
})

test('a lease is over at the very millisecond that it ends', () => {
  const { reserve, ledger, clock } = world()
  const claim = claimOf({ kind: 'concurrency', most: 1 })
  reserve([claim], { leaseMs: 1_000 })
  clock.at += 999
  expect(ledger.left('b', [claim])).toMatchObject([{ used: 1 }])
  clock.at += 1
  expect(ledger.left('b', [claim])).toMatchObject([{ used: 0 }])
})

test('each lease ends at its own time, beside one that has none', () => {
  const { reserve, ledger, clock } = world()
  const claim = claimOf({ kind: 'concurrency', most: 10 })
  for (const leaseMs of [undefined, 1_000, 2_000]) reserve([claim], leaseMs ? { leaseMs } : {})
  const used = () => ledger.left('b', [claim])[0]!.used
  for (const [ms, left] of [
    [999, 3],
    [1, 2],
    [999, 2],
    [1, 1],
    [1_000_000, 1],
  ] as const) {
    clock.at += ms
    expect(used()).toBe(left)
  }
})

test('a unit that is not named when it is settled counts as it was reserved', () => {
  const { reserve, ledger } = world()
  const limit: Limit = { kind: 'day', most: 100, timezone: 'UTC' }
  const claims = [claimOf(limit, 10), { ...claimOf(limit, 20), unit: 'constructor' }]
  const held = reserve(claims)
  if (granted(held)) ledger.settle(held.id, { u: 3 })
  expect(ledger.left('b', claims).map(({ used }) => used)).toEqual([3, 20])
})

test('a thread that has ended reserves no more, whatever of it still arrives', () => {
  const { reserve, ledger } = world()
  const claim = claimOf({ kind: 'concurrency', most: 1 })
  reserve([claim], { thread: 2 })
  ledger.lose(2)
  expect(() => reserve([claim], { thread: 2 })).toThrow('ended')
  expect(granted(reserve([claim], { thread: 3 }))).toBe(true)
})

test('amounts that are no whole numbers are refused, and so are limits that are none', () => {
  const { reserve, ledger } = world()
  for (const amount of [-1, 0.5, Number.NaN, 2 ** 60])
    for (const claim of [
      claimOf({ kind: 'concurrency', most: 1 }, amount),
      claimOf({ kind: 'concurrency', most: amount }),
      claimOf({ kind: 'bucket', most: 1, windowMs: 1, burst: amount }),
    ])
      expect(() => reserve([claim])).toThrow('whole numbers')
  expect(() => reserve([claimOf({ kind: 'bucket', most: 0, windowMs: 1, burst: 1 })])).toThrow('at least 1')
  expect(() => reserve([claimOf({ kind: 'sliding', most: 1, windowMs: 0 })])).toThrow('millisecond')
  expect(() => reserve([claimOf({ kind: 'day', most: 1, timezone: 'Atlantis/Gone' })])).toThrow()
  const held = reserve([claimOf({ kind: 'day', most: 5, timezone: 'UTC' }, 5)])
  if (granted(held)) expect(() => ledger.settle(held.id, { u: 1.5 })).toThrow('whole numbers')
})
