import { describe, expect, test } from 'vitest'
import { defaultLimits } from '../../config/circuit-limits.ts'
import { badRequest, ClientGone } from '../../kit/errors.ts'
import { Cancel } from '../../kit/work/cancel.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import type { Attempt } from '../call/attempt.ts'
import type { Outcome } from '../call/outcome.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Hooks, Visit } from './hooks.ts'
import { Meter } from './meter.ts'
import { ModuleCircuit } from './module-circuit.ts'

const call = callWith()
const attempt = { n: 1, provider: 'p', model: 'm' } as Attempt
const outcome = { ending: 'ok' } as Outcome
const visit = { isCall: true, principal: { type: 'user' } } as Visit
const admin = { isCall: false, principal: { type: 'admin' } } as Visit
const nobody = { isCall: false, principal: undefined } as unknown as Visit

const never = async () => {
  throw new Error('nothing is sent')
}
const chainOf = (...entries: Entry[]): Chain => new Chain(entries, never)
const quick = () => new Meter(new ModuleCircuit({ ...defaultLimits, timeout: 5, failures: 1, open: 60_000 }))

type Asks = 'admit' | 'attempt'
type Hears = 'attempted' | 'attemptEnded' | 'settled'

const run: Record<Asks | Hears, (chain: Chain) => void | Promise<void>> = {
  admit: (chain) => chain.admit(visit),
  attempt: (chain) => chain.attempt(attempt, call, {}),
  attempted: (chain) => chain.attempted(attempt, call),
  attemptEnded: (chain) => chain.attemptEnded?.(attempt, call),
  settled: (chain) => chain.settled(outcome, call),
}

const hooksOf = (name: string, hook: () => unknown): Hooks => ({ [name]: hook }) as unknown as Hooks

describe.each(Object.keys(run) as (Asks | Hears)[])('%s', (name) => {
  test('is called in turn, without a promise where nobody takes time, and with one where somebody does', async () => {
    const order: number[] = []
    const at = (n: number, wait?: Promise<void>) =>
      entryOf(
        `m${n}`,
        hooksOf(name, () => (wait ? wait.then(() => void order.push(n)) : void order.push(n))),
      )
    expect(run[name](chainOf(at(1), entryOf('other', { request: () => undefined }), at(2)))).toBeUndefined()
    expect(order.splice(0)).toEqual([1, 2])
    const running = run[name](chainOf(at(1), at(2, Promise.resolve()), at(3), at(4)))
    expect(order).toEqual([1])
    await running
    expect(order).toEqual([1, 2, 3, 4])
  })

  test.each([false, true])('a failure is metered and passed over (later: %s)', async (later) => {
    const fails = () => {
      if (later) return Promise.reject(new Error('no'))
      throw new Error('no')
    }
    const heard: string[] = []
    const bad = entryOf('bad', hooksOf(name, fails), { failure: 'open' })
    await run[name](
      chainOf(
        bad,
        entryOf(
          'good',
          hooksOf(name, () => heard.push('it')),
        ),
      ),
    )
    expect(bad.meter.errors).toBe(1)
    expect(bad.meter.events[0]).toMatchObject({ kind: 'failed', detail: `${name}: Error` })
    expect(heard).toEqual(['it'])
  })

  test('one that never answers is waited for as long as it may take', async () => {
    const slow = entryOf(
      'slow',
      hooksOf(name, () => new Promise(() => {})),
      { failure: 'open', meter: quick() },
    )
    await run[name](chainOf(slow))
    expect(slow.meter.events.map(({ detail }) => detail)).toContain(`${name}: no answer within 5 ms`)
  })
})

describe.each<Asks>(['admit', 'attempt'])('who is asked at %s', (name) => {
  test.each([false, true])('refuses by throwing (later: %s)', async (later) => {
    const refuses = () => {
      if (later) return Promise.reject(badRequest('no'))
      throw badRequest('no')
    }
    const entry = entryOf('bad', hooksOf(name, refuses), { failure: 'open' })
    await expect((async () => run[name](chainOf(entry)))()).rejects.toMatchObject({
      code: 'bad_request',
      module: 'bad',
    })
    expect([entry.meter.refusals, entry.meter.errors]).toEqual([1, 0])
  })

  test('refuses by failing, where its policy is to', async () => {
    const entry = entryOf(
      'bad',
      hooksOf(name, () => Promise.reject(new Error('no'))),
    )
    await expect(run[name](chainOf(entry))).rejects.toMatchObject({ code: 'internal_error', module: 'bad' })
  })
})

test('a try that is waited for until the call is over has not failed', async () => {
  const left = callWith({}, { cancel: new Cancel() })
  const waits = entryOf('waits', {
    attempt: (_, { cancel }) => new Promise((_, reject) => void cancel.onAbort(reject)),
  })
  const asked = chainOf(waits).attempt(attempt, left, {})
  const gone = new ClientGone()
  left.cancel.abort(gone)
  await expect(asked).rejects.toBe(gone)
  expect(waits.meter.errors).toBe(0)
})

test('nobody is told of the end of a try where no module asks', () => {
  expect(chainOf(entryOf('other', { attempted: () => {} })).attemptEnded).toBeUndefined()
})

test('what is added to the headers of a try is there for the next module, and for the sender', () => {
  const headers: Record<string, string> = {}
  const seen: unknown[] = []
  const adding = entryOf('one', { attempt: (_, __, to) => void Object.assign(to, { 'x-one': '1' }) })
  const looking = entryOf('two', {
    attempt: (made, of, to) => void seen.push(made === attempt, of === call, { ...to }),
  })
  void chainOf(adding, looking).attempt(attempt, call, headers)
  expect(seen).toEqual([true, true, { 'x-one': '1' }])
})

test('a module that does not apply to a call is neither asked nor told of it', async () => {
  const heard: string[] = []
  const hear = (name: string) => () => void heard.push(name)
  const hooks = {
    attempt: hear('attempt'),
    attempted: hear('attempted'),
    attemptEnded: hear('attemptEnded'),
    settled: hear('settled'),
    admit: hear('admit'),
  }
  const chain = chainOf(entryOf('some', hooks, { when: () => 'projects' }))
  for (const name of Object.keys(run) as (Asks | Hears)[]) await run[name](chain)
  expect(heard).toEqual([])
})

describe('at the door, a module that is left out', () => {
  const leftOut = (failure: Entry['failure'], hooks: Hooks = {}) => {
    const asked: string[] = []
    const meter = quick()
    meter.circuit.trip('a reason')
    const entry = entryOf('bad', { admit: () => void asked.push('admit'), ...hooks }, { failure, meter })
    return { entry, chain: chainOf(entry), asked }
  }

  test('is not asked, and calls pass where that is its policy', () => {
    const { chain, asked } = leftOut('open')
    expect(chain.admit(visit)).toBeUndefined()
    expect(asked).toEqual([])
  })

  test('refuses where that is its policy, but neither admins nor requests of nobody that may repair it', () => {
    const { chain, asked, entry } = leftOut('closed')
    for (const refused of [visit, { ...visit, isCall: false }, { ...admin, isCall: true }])
      expect(() => chain.admit(refused)).toThrow(
        expect.objectContaining({ code: 'circuit_open', module: 'bad', retryAfterS: 60 }),
      )
    expect(entry.meter.refusals).toBe(3)
    for (const repair of [admin, nobody]) expect(chain.admit(repair)).toBeUndefined()
    expect(asked).toEqual([])
  })

  test('is asked when its time is up, and is back when it answers, unless its calls have to show that', () => {
    for (const [hooks, state] of [
      [{}, 'closed'],
      [{ request: () => undefined }, 'open'],
    ] as const) {
      const meter = new Meter(new ModuleCircuit({ ...defaultLimits, open: 0 }))
      meter.circuit.trip('a reason')
      const asked: string[] = []
      const entry = entryOf('bad', { admit: () => void asked.push('admit'), ...hooks }, { meter })
      expect(chainOf(entry).admit(visit)).toBeUndefined()
      expect([asked, meter.circuit.state]).toEqual([['admit'], state])
    }
  })
})
