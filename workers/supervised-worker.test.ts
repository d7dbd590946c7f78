import { afterEach, expect, test } from 'vitest'
import type { SupervisedMethods } from '../test/fixtures/supervised.ts'
import { SupervisedWorker } from './supervised-worker.ts'
import { type SupervisedOptions, WorkerLost } from './supervision.ts'

type Options = SupervisedOptions<SupervisedMethods, Record<never, never>, unknown>

let worker: SupervisedWorker<SupervisedMethods, Record<never, never>>

/** Why workers were lost, oldest first. */
let losses: string[] = []

afterEach(async () => {
  await worker.close(async () => {}, 0)
  losses = []
})

function supervise({ limits, ...options }: Partial<Options> = {}): typeof worker {
  worker = new SupervisedWorker({
    entry: ['../test/fixtures/supervised', import.meta.url],
    data: () => ({ value: 'this' }),
    env: {},
    limits: { startMs: 30_000, ...limits },
    methods: {},
    begin: (far) => far.call('begin', 'well'),
    lost: ({ reason }) => losses.push(reason),
    ...options,
  })
  return worker
}

test('is ready when it has begun, with what it is given and nothing else, and is started once', async () => {
  supervise()
  const [ready, again] = await Promise.all([worker.start(), worker.start()])
  expect(ready).toEqual({ given: 'this', env: 0 })
  expect(again).toBe(ready)
  expect([worker.isReady, worker.starts]).toEqual([true, 1])
  expect(await worker.call('echo', 'hello')).toBe('hello')
})

test.each([
  ['loop', 'it gave no sign of life for 300 ms', { hangMs: 300 }],
  ['leak', 'it used more memory than it may', { heapMb: 32 }],
  ['throw', 'RangeError was thrown in it', {}],
  ['exit', 'it ended with code 3', {}],
] as const)(
  'that comes to its end by a %s rejects what is asked of it, says why, and starts again',
  async (how, reason, limits) => {
    supervise({ limits })
    await worker.start()
    const [echoed, harmed] = await Promise.allSettled([
      worker.call('echo', 'in time'),
      worker.call('harm', how),
    ])
    expect(echoed).toEqual({ status: 'fulfilled', value: 'in time' })
    expect(harmed).toMatchObject({
      status: 'rejected',
      reason: { reason, message: `its worker was lost: ${reason}` },
    })
    expect(losses).toEqual([reason])
    expect(worker.isReady).toBe(false)
    await expect(worker.call('echo', 'to nobody')).rejects.toBeInstanceOf(WorkerLost)
    await worker.start()
    expect([await worker.call('echo', 'again'), worker.starts]).toEqual(['again', 2])
  },
)

test('that throws has given the answers that it gave before', async () => {
  supervise()
  // They come by another way than the error, which is the faster one every few times.
  for (let n = 0; n < 8; n += 1) {
    await worker.start()
    const asked = Promise.allSettled([worker.call('echo', 'in time'), worker.call('harm', 'throw')])
    expect(await asked).toMatchObject([
      { status: 'fulfilled', value: 'in time' },
      { status: 'rejected', reason: { reason: 'RangeError was thrown in it' } },
    ])
  }
})

test('that is not ready in time, or cannot begin, rejects its start, and is no loss', async () => {
  supervise({ begin: (far) => far.call('begin', 'fail') })
  await expect(worker.start()).rejects.toThrow('it does not like to')
  supervise({ limits: { startMs: 100 }, begin: (far) => far.call('begin', 'never') })
  await expect(worker.start()).rejects.toThrow('the worker did not start: it was not ready within 0.1 s')
  expect(losses).toEqual([])
})

test('that waits for something else than itself gives signs of life', async () => {
  supervise({ limits: { hangMs: 60 } })
  await worker.start()
  const never = expect(worker.call('harm', 'never')).rejects.toThrow('that is all')
  for (let n = 0; n < 20; n++) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    await worker.call('echo', 'on')
  }
  expect(losses).toEqual([])
  await worker.end('that is all')
  await never
})

test('that works is looked after also while nothing is asked of it', async () => {
  supervise({ works: true, limits: { hangMs: 200 } })
  await worker.start()
  worker.notify('harm', 'loop')
  await expect.poll(() => losses).toEqual(['it gave no sign of life for 200 ms'])
})

test('that has nothing to do ends, unless it has something again', async () => {
  let ended = 0
  supervise({ limits: { idleMs: 1 } })
  await worker.start()
  await expect.poll(() => worker.isReady).toBe(false)
  await worker.start()
  const never = worker.call('harm', 'never').catch(() => ended++)
  await worker.call('echo', 'in between')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([worker.isReady, ended, losses]).toEqual([true, 0, []])
  await worker.end('that is all')
  await never
})

test('is restarted when it was lost, after a pause that grows while starts fail, and not once it is closed', async () => {
  const started: number[] = []
  let failures = 2
  supervise({
    begin: (far) => far.call('begin', started.length > 0 && failures-- > 0 ? 'fail' : 'well'),
    restart: {
      pauseMs: 50,
      run: async (start) => {
        started.push(performance.now())
        await start()
      },
    },
  })
  await worker.start()
  const lostAt = performance.now()
  worker.fail('it is no good')
  await expect.poll(() => worker.isReady).toBe(true)
  const pauses = started.map((at, n) => at - (started[n - 1] ?? lostAt))
  expect(pauses).toHaveLength(3)
  // A timer may ring a millisecond early.
  for (const [n, least] of [49, 99, 199].entries()) expect(pauses[n]).toBeGreaterThanOrEqual(least)
  expect(losses).toEqual(['it is no good'])
  worker.fail('once more')
  await worker.close(async () => {}, 0)
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect([started.length, worker.isReady]).toEqual([3, false])
})

test('says a last thing when it is closed, but is not waited for long', async () => {
  supervise()
  await worker.start()
  expect(await worker.close((far) => far.call('echo', 'farewell'), 10_000)).toBe('farewell')
  await expect(worker.start()).rejects.toThrow('it was switched off')
  supervise()
  await worker.start()
  expect(await worker.close((far) => far.call('harm', 'loop'), 50)).toBeUndefined()
})
