import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { defaultLimits } from '../../config/circuit-limits.ts'
import { badRequest, ClientGone } from '../../kit/errors.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import { runAround } from './around.ts'
import type { Entry } from './entry.ts'
import type { Hooks, Next } from './hooks.ts'
import { Meter } from './meter.ts'
import { ModuleCircuit } from './module-circuit.ts'

/** The time of an `around` is what passes while nothing runs inside it. */

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const timeout = 50
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const answer = WholeReply.of({ choices: [] })

const inside =
  (ms: number): Next =>
  async () => {
    await wait(ms)
    return answer
  }

function moduleWith(around: NonNullable<Hooks['around']>, failure: Entry['failure'] = 'open'): Entry {
  const meter = new Meter(new ModuleCircuit({ ...defaultLimits, timeout }))
  return entryOf('test', { around }, { failure, meter })
}

/** Runs it to its end; how long it took on the whole, and how much of that was its own. */
async function run(entry: Entry, next: Next, call = callWith()) {
  const began = performance.now()
  const outcome: { reply?: Reply; error?: unknown } = {}
  const running = runAround(entry, call, next).then(
    (reply) => void Object.assign(outcome, { reply }),
    (error: unknown) => void Object.assign(outcome, { error }),
  )
  let took = 0
  void running.then(() => {
    took = performance.now() - began
  })
  await vi.advanceTimersByTimeAsync(10_000)
  await running
  const own = call.trace.timings.map(({ ms }) => Math.round(ms))
  const { events, hooks, errors } = entry.meter
  return { ...outcome, took, own, failures: events.map(({ detail }) => detail), hooks, errors, call }
}

test.each<[string, NonNullable<Hooks['around']>, Next, { took: number; own: number }]>([
  [
    'before and after what is inside',
    async (call, next) => {
      await wait(5)
      const reply = await next(call)
      await wait(7)
      return reply
    },
    inside(100),
    { took: 112, own: 12 },
  ],
  ['none of its own', (call, next) => next(call), inside(100), { took: 100, own: 0 }],
  [
    'two at once inside',
    async (call, next) => {
      const [first] = await Promise.all([next(call), wait(10).then(() => next(call))])
      await wait(3)
      return first
    },
    inside(100),
    { took: 113, own: 3 },
  ],
  [
    'two one after the other',
    async (call, next) => {
      await next(call)
      await wait(20)
      return next(call)
    },
    inside(100),
    { took: 220, own: 20 },
  ],
  [
    'an answer of its own while one is on its way',
    async (call, next) => {
      await wait(4)
      void next(call)
      await wait(10)
      return answer
    },
    inside(100),
    { took: 14, own: 4 },
  ],
  [
    'a failure inside that it makes good',
    async (call, next) => {
      await next(call).catch(() => wait(9))
      return answer
    },
    async () => {
      await wait(100)
      throw badRequest('inside')
    },
    { took: 109, own: 9 },
  ],
])('%s', async (_, around, next, { took, own }) => {
  const ran = await run(moduleWith(around), next)
  expect(ran).toMatchObject({ reply: answer, took, own: [own], failures: [], errors: 0 })
  expect([...ran.hooks]).toEqual([['around', { calls: 1, totalMs: expect.closeTo(own, 5) }]])
})

test('one that takes too long before it asks is passed over, and asks for nothing later', async () => {
  let asked = 0
  const next: Next = async () => {
    asked += 1
    return answer
  }
  const late: unknown[] = []
  const entry = moduleWith(async (call, go) => {
    await wait(timeout + 10)
    return go(call).catch((error: unknown) => {
      late.push(error)
      throw error
    })
  })
  const ran = await run(entry, next)
  expect(ran).toMatchObject({ reply: answer, took: timeout, failures: ['around: no answer within 50 ms'] })
  expect(asked).toBe(1)
  expect(late).toMatchObject([{ message: 'no answer within 50 ms' }])
})

test('one that takes too long with the answer leaves it as it was, and its time begins anew after each inside', async () => {
  const entry = moduleWith(async (call, next) => {
    await wait(timeout - 10)
    await next(call)
    await wait(timeout - 10)
    await next(call)
    return new Promise(() => {})
  })
  const ran = await run(entry, inside(1000))
  expect(ran).toMatchObject({ reply: answer, took: 2 * (timeout - 10) + 2000 + timeout, errors: 1 })
})

test('what is inside may take as long as it likes, also from the first moment on', async () => {
  const entry = moduleWith((call, next) => next(call))
  expect(await run(entry, inside(timeout * 10))).toMatchObject({ reply: answer, failures: [] })
  const two = moduleWith(async (call, next) => {
    const [first] = await Promise.all([next(call), next(call).then(() => wait(1))])
    return first
  })
  let n = 0
  const uneven: Next = (call) => inside(n++ === 0 ? timeout * 10 : 1)(call)
  expect(await run(two, uneven)).toMatchObject({ reply: answer, failures: [] })
})

test('when it fails with nothing inside any more, the answer is not waited for twice', async () => {
  const first = badRequest('first')
  const entry = moduleWith(async (call, next) => {
    await next(call).catch(() => {})
    throw new Error('broken')
  })
  let asked = 0
  const ran = await run(entry, async () => {
    asked += 1
    throw first
  })
  expect(ran).toMatchObject({ error: first, errors: 1 })
  expect(asked).toBe(1)
})

test('of a call whose client has left nothing more is asked, and the module is not to blame', async () => {
  const call = callWith()
  const entry = moduleWith(async () => {
    await wait(1)
    call.cancel.abort(new ClientGone())
    throw new Error('broken')
  })
  let asked = 0
  const ran = await run(
    entry,
    async () => {
      asked += 1
      return answer
    },
    call,
  )
  expect(ran.error).toBeInstanceOf(ClientGone)
  expect([asked, ran.errors]).toEqual([0, 0])
})

test('an answer of its own is noted as one, unless it says more itself', async () => {
  const notes = async (around: NonNullable<Hooks['around']>, call = callWith()) => {
    await run(moduleWith(around), inside(1), call)
    return call.trace.notes.map(({ module, verdict }) => `${module} ${verdict}`)
  }
  expect(await notes(async () => answer)).toEqual(['test answered'])
  expect(await notes((call, next) => next(call))).toEqual([])
  const own = callWith()
  expect(
    await notes(async () => {
      own.trace.note('test', 'cached')
      return answer
    }, own),
  ).toEqual(['test cached'])
  const others = callWith()
  others.trace.note('other', 'seen')
  expect(await notes(async () => answer, others)).toEqual(['other seen', 'test answered'])
})
