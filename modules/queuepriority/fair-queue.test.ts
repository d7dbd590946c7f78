import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Priority } from '#kit'
import { FairQueue, type QueueBounds, type Ticket, type Word } from './fair-queue.ts'

interface Asked {
  readonly owner?: string
  readonly weight?: number
  readonly priority?: Priority
}

/** A queue whose tickets are told apart by the order they came in. */
function queueOf(most: number, mostWaiting = 1000) {
  const bounds: QueueBounds = { most, mostWaiting }
  const queue = new FairQueue(bounds)
  const started: Ticket[] = []
  const displaced: Ticket[] = []
  const enter = ({ owner = 'ada', weight = 1, priority = 'normal' }: Asked = {}, now = 0): Ticket => {
    const tell = (word: Word): void => void (word === 'turn' ? started : displaced).push(ticket)
    const ticket: Ticket = { owner, weight, priority, tell, state: 'waiting', since: 0 }
    queue.enter(ticket, bounds, now)
    if (ticket.state === 'running') started.push(ticket)
    return ticket
  }
  const leave = (ticket: Ticket, now = 0): void => queue.leave(ticket, now)
  return { queue, bounds, started, displaced, enter, leave }
}

const several = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)
const statesOf = (tickets: readonly Ticket[]) => tickets.map(({ state }) => state)

test('as many run as may, the others wait, and each that ends makes room for one', () => {
  const { queue, enter, leave } = queueOf(2)
  const [a, b, c, d] = several(4, enter) as [Ticket, Ticket, Ticket, Ticket]
  expect(statesOf([a, b, c, d])).toEqual(['running', 'running', 'waiting', 'waiting'])
  leave(a)
  leave(a)
  expect(statesOf([a, b, c, d])).toEqual(['over', 'running', 'running', 'waiting'])
  for (const one of [b, c, d]) leave(one)
  expect([queue.running, queue.waiting]).toEqual([0, 0])
})

test('the calls of one owner go by priority, and by their order where that is the same', () => {
  const { started, enter, leave } = queueOf(1)
  const first = enter()
  const order: Priority[] = ['low', 'normal', 'high', 'normal', 'low', 'high']
  const tickets = order.map((priority) => enter({ priority }))
  for (let last: Ticket | undefined = first; last; last = tickets.find(({ state }) => state === 'running'))
    leave(last)
  const [l1, n1, h1, n2, l2, h2] = tickets
  expect(started).toEqual([first, h1, h2, n1, n2, l1, l2])
})

test('calls that are low give way to those of all others', () => {
  const { enter, leave } = queueOf(1)
  const first = enter({ owner: 'ada' })
  const low = enter({ owner: 'bob', priority: 'low' })
  const normal = enter({ owner: 'ada' })
  leave(first, 1000)
  expect(statesOf([low, normal])).toEqual(['waiting', 'running'])
})

test.each([
  ['low', 'normal', 'normal'],
  ['normal', 'low', 'normal'],
  ['high', 'low', 'high'],
] as const)('of calls that are %s and %s of two owners, the %s one goes first', (one, other, first) => {
  const { enter, leave, started } = queueOf(1)
  const running = enter({ owner: 'carol' })
  const tickets = [enter({ owner: 'ada', priority: one }), enter({ owner: 'bob', priority: other })]
  leave(running, 10)
  expect(started.at(-1)!.priority).toBe(first)
  leave(started.at(-1)!, 20)
  expect(statesOf(tickets).toSorted()).toEqual(['over', 'running'])
})

test('of calls that are low, too, the one of who has no slot goes first', () => {
  const { enter, leave } = queueOf(2)
  const [first] = several(2, () => enter({ owner: 'flood' }))
  const more = enter({ owner: 'flood', priority: 'low' })
  const quiet = enter({ owner: 'quiet', priority: 'low' })
  leave(first!, 10)
  expect(statesOf([more, quiet])).toEqual(['waiting', 'running'])
})

test('a higher limit lets those go who wait, with the next call', () => {
  const { queue, bounds, enter } = queueOf(1)
  const tickets = several(3, enter)
  const ticket: Ticket = {
    owner: 'ada',
    weight: 1,
    priority: 'normal',
    tell: () => {},
    state: 'waiting',
    since: 0,
  }
  expect(queue.enter(ticket, { ...bounds, most: 4 }, 0)).toBe(true)
  expect(statesOf([...tickets, ticket])).toEqual(['running', 'running', 'running', 'running'])
})

test('it tells who runs and waits, and by how long slots are held when to try again', () => {
  const { queue, bounds, enter, leave } = queueOf(2)
  const [first] = several(4, () => enter({ owner: 'ada' }))
  leave(enter({ owner: 'bob' }))
  expect([queue.most, queue.owners]).toEqual([2, [{ owner: 'ada', running: 2, waiting: 2 }]])
  leave(first!, 1000)
  // A tenth of the way from the two seconds that are assumed.
  expect(queue.retryMs).toBeCloseTo((1900 * 1) / 2)
  several(2, () => enter({ owner: 'ada' }))
  expect(queue.retryMs).toBeCloseTo((1900 * 3) / 2)
  expect(queue.enter({ ...first!, state: 'waiting' }, { ...bounds, mostWaiting: 0 }, 0)).toBe(false)
})

test('who calls everything high gets no more than a share', () => {
  const { enter, leave } = queueOf(1)
  const first = enter({ owner: 'loud', priority: 'high' })
  several(5, () => enter({ owner: 'loud', priority: 'high' }))
  const quiet = enter({ owner: 'quiet' })
  leave(first, 100)
  expect(quiet.state).toBe('running')
})

test('who has no slot is next, however many others wait and whatever they have used', () => {
  const { enter, leave, started } = queueOf(4)
  const flood = several(100, () => enter({ owner: 'flood' }))
  const quiet = several(2, () => enter({ owner: 'quiet' }))
  leave(flood[0]!, 10)
  leave(flood[1]!, 20)
  expect(statesOf(quiet)).toEqual(['running', 'running'])
  expect(started).toHaveLength(6)
})

test('slots are shared by weight', () => {
  const { enter, leave, started } = queueOf(6)
  several(100, () => enter({ owner: 'small', weight: 1 }))
  several(100, () => enter({ owner: 'large', weight: 2 }))
  for (let now = 0; now < 60; now += 1) leave(started[now]!, now)
  const running = started.filter(({ state }) => state === 'running')
  expect(running.filter(({ owner }) => owner === 'large')).toHaveLength(4)
})

test('one slot is shared by time, so that long calls do not take it from short ones', () => {
  const { enter, leave, started } = queueOf(1)
  several(100, () => enter({ owner: 'long' }))
  several(100, () => enter({ owner: 'short' }))
  let now = 0
  const used = { long: 0, short: 0 }
  for (let n = 0; n < 100; n += 1) {
    const ticket = started[n]!
    const owner = ticket.owner as keyof typeof used
    const ms = owner === 'long' ? 1000 : 100
    now += ms
    used[owner] += ms
    leave(ticket, now)
  }
  expect(Math.abs(used.long - used.short)).toBeLessThanOrEqual(1000)
})

test('one slot is shared by weight', () => {
  const { enter, leave, started } = queueOf(1)
  several(100, () => enter({ owner: 'large', weight: 3 }))
  several(100, () => enter({ owner: 'small', weight: 1 }))
  for (let n = 0; n < 40; n += 1) leave(started[n]!, (n + 1) * 100)
  const large = started.slice(0, 40).filter(({ owner }) => owner === 'large').length
  expect(large).toBeGreaterThanOrEqual(29)
  expect(large).toBeLessThanOrEqual(31)
})

test('who comes back has no claim on the time in which it wanted nothing', () => {
  const { enter, leave, started } = queueOf(1)
  leave(enter({ owner: 'back' }), 100)
  let now = 100
  let last = enter({ owner: 'busy' }, now)
  for (let n = 0; n < 50; n += 1) {
    const next = enter({ owner: 'busy' }, now)
    now += 100
    leave(last, now)
    last = next
  }
  several(10, () => enter({ owner: 'back' }, now))
  several(10, () => enter({ owner: 'busy' }, now))
  const before = started.length
  for (let n = 0; n < 10; n += 1) {
    now += 100
    leave(started.at(-1)!, now)
  }
  const since = started.slice(before).map(({ owner }) => owner)
  expect(since.filter((owner) => owner === 'busy').length).toBeGreaterThanOrEqual(4)
})

test('it remembers a thousand owners, so that names that come once do not pile up', () => {
  const { enter, leave, started } = queueOf(2)
  enter({ owner: 'busy' })
  let now = 0
  const pass = (owner: string): void => {
    const ticket = enter({ owner }, now)
    now += 100
    leave(ticket, now)
  }
  pass('first')
  for (let n = 0; n < 1100; n += 1) pass(`once-${n}`)
  const other = enter({ owner: 'other' }, now)
  const [first] = [enter({ owner: 'first' }, now), enter({ owner: 'newcomer' }, now)]
  leave(other, now)
  // Its hundred milliseconds are forgotten, or the newcomer would go before it.
  expect([first.state, started.at(-1)]).toEqual(['running', first])
})

describe('a queue that is full', () => {
  test('refuses who would have most in it', () => {
    const { enter } = queueOf(1, 2)
    const tickets = several(4, enter)
    expect(statesOf(tickets)).toEqual(['running', 'waiting', 'waiting', 'over'])
  })

  test('displaces the last of a flood for who has fewer', () => {
    const { enter, displaced, queue } = queueOf(1, 4)
    const flood = several(5, () => enter({ owner: 'flood' }))
    const quiet = enter({ owner: 'quiet' })
    expect([quiet.state, displaced]).toEqual(['waiting', [flood[4]]])
    expect(queue.waiting).toBe(4)
    enter({ owner: 'quiet' })
    expect(displaced).toHaveLength(2)
    expect(enter({ owner: 'quiet' }).state).toBe('over')
  })

  test('compares what waits by weight', () => {
    const { enter, displaced } = queueOf(1, 6)
    several(5, () => enter({ owner: 'large', weight: 10 }))
    const small = several(2, () => enter({ owner: 'small' }))
    expect(enter({ owner: 'small' }).state).toBe('over')
    expect(enter({ owner: 'large', weight: 10 }).state).toBe('waiting')
    expect(displaced).toEqual([small[1]])
  })

  test('displaces nobody for who would have as many', () => {
    const { enter, displaced } = queueOf(1, 3)
    several(3, () => enter({ owner: 'ada' }))
    enter({ owner: 'bob' })
    expect(enter({ owner: 'bob' }).state).toBe('over')
    expect(displaced).toEqual([])
  })

  test('displaces a less urgent call of the same owner', () => {
    const { enter, displaced } = queueOf(1, 1)
    enter()
    const low = enter({ priority: 'low' })
    const high = enter({ priority: 'high' })
    expect([low.state, high.state, displaced]).toEqual(['over', 'waiting', [low]])
    expect(enter({ priority: 'high' }).state).toBe('over')
  })

  test('lets nobody wait where there are no places', () => {
    const { enter } = queueOf(1, 0)
    expect(statesOf([enter(), enter({ owner: 'bob' })])).toEqual(['running', 'over'])
  })
})

test('whatever comes and goes, no slot is lost, used twice, or free while somebody waits', () => {
  const step = fc.record({
    kind: fc.constantFrom('enter', 'enter', 'leave'),
    owner: fc.constantFrom('a', 'b', 'c'),
    priority: fc.constantFrom<Priority>('high', 'normal', 'low'),
    index: fc.nat(),
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.nat(8), fc.array(step), (most, places, steps) => {
      const { queue, enter, leave } = queueOf(most, places)
      const tickets: Ticket[] = []
      for (const [now, { kind, owner, priority, index }] of steps.entries()) {
        if (kind === 'enter') tickets.push(enter({ owner, priority }, now))
        else if (tickets.length > 0) leave(tickets[index % tickets.length]!, now)
        const count = (state: Ticket['state']) => tickets.filter((one) => one.state === state).length
        expect([queue.running, queue.waiting]).toEqual([count('running'), count('waiting')])
        expect(queue.running).toBeLessThanOrEqual(most)
        expect(queue.waiting).toBeLessThanOrEqual(places)
        if (queue.waiting > 0) expect(queue.running).toBe(most)
      }
    }),
  )
})

interface Load {
  readonly owner: string
  readonly weight: number
  /** Clients that each send the next call when their last one has ended. */
  readonly clients: number
  /** How long a call holds its slot. */
  readonly ms: () => number
  /** Share of the calls whose client leaves before it is its turn. */
  readonly leaving: number
}

/**
 * Plays loads on a queue without a clock: the waits of one owner's calls. The first ones are left out, in which an owner gets
 * its slots: nobody's call is interrupted for it.
 */
function waitsOf(most: number, loads: readonly Load[], owner: string, random: () => number, calls = 600) {
  const { queue, bounds } = queueOf(most)
  const waits: number[] = []
  const events: { at: number; run: () => void }[] = []
  let now = 0
  const plan = (at: number, run: () => void): void => {
    const place = events.findIndex((other) => other.at > at)
    events.splice(place === -1 ? events.length : place, 0, { at, run })
  }
  const send = (load: Load): void => {
    const asked = now
    const begin = (): void => {
      if (load.owner === owner) waits.push(now - asked)
      plan(now + load.ms(), () => {
        queue.leave(ticket, now)
        send(load)
      })
    }
    const ticket: Ticket = {
      owner: load.owner,
      weight: load.weight,
      priority: 'normal',
      tell: begin,
      state: 'waiting',
      since: 0,
    }
    queue.enter(ticket, bounds, now)
    if ((ticket.state as string) === 'running') begin()
    else if (random() < load.leaving)
      plan(now + random() * 500, () => {
        if (ticket.state !== 'waiting') return
        queue.leave(ticket, now)
        send(load)
      })
  }
  for (const load of loads) for (let n = 0; n < load.clients; n += 1) send(load)
  while (waits.length < calls) {
    const next = events.shift()!
    now = next.at
    next.run()
  }
  return waits.slice(200)
}

const p95 = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)]!

test('beside a flood, calls wait at most twice as long as in their own share of the slots', () => {
  const setting = fc.record({
    share: fc.integer({ min: 1, max: 10 }),
    times: fc.integer({ min: 1, max: 3 }),
    longer: fc.constantFrom(1, 3, 10),
    leaving: fc.constantFrom(0, 0.3),
    seed: fc.integer({ min: 1, max: 1e6 }),
  })
  fc.assert(
    fc.property(setting, ({ share, times, longer, leaving, seed }) => {
      let state = seed
      const random = (): number => {
        state = (state * 48271) % 2147483647
        return state / 2147483647
      }
      // More clients than slots, so that there is a wait of its own.
      const quiet = {
        owner: 'quiet',
        weight: 1,
        clients: 3 * share,
        ms: () => 500 + 1000 * random(),
        leaving,
      }
      const flood = {
        owner: 'flood',
        weight: times,
        clients: 40 * share,
        ms: () => longer * (500 + 1000 * random()),
        leaving,
      }
      const alone = p95(waitsOf(share, [quiet], 'quiet', random))
      const beside = p95(waitsOf(share * (1 + times), [flood, quiet], 'quiet', random))
      expect(beside).toBeLessThanOrEqual(2 * alone)
    }),
    { numRuns: 60 },
  )
})
