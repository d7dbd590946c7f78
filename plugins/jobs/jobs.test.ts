import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { JobQueue, JobRecord } from '#kernel'
import { type JobsProcess, Owner } from '../../test/jobs.ts'
import { JobsEngine } from '../../test/jobs-engine.ts'
import { tidy } from './tidy.ts'

const jobsEngine = new JobsEngine()
const { newStore, open } = jobsEngine

/** The job, once it stands so. */
async function become(queue: JobQueue<never>, id: string, status: JobRecord['status']): Promise<JobRecord> {
  await expect.poll(async () => (await queue.get(id))?.status, { interval: 5 }).toBe(status)
  return (await queue.get(id))!
}

const input = z.strictObject({ n: z.number() })

test('a job is added once under its id, runs with what was added, and its result is kept', async () => {
  const { jobs } = await open(newStore())
  const ran: unknown[] = []
  const queue = jobs.define(new Owner(), 'double', {
    input,
    run: ({ input: { n }, attempt }) => {
      ran.push([n, attempt])
      return { twice: 2 * n }
    },
  })
  const ids = await Promise.all([
    queue.add({ n: 1 }, { id: 'a' }),
    queue.add({ n: 2 }, { id: 'a' }),
    queue.add({ n: 3 }),
  ])
  expect(ids[0]).toBe('test.double:a')
  expect(ids[1]).toBe('test.double:a')
  const job = await become(queue, 'a', 'completed')
  await become(queue, ids[2], 'completed')
  expect(job).toMatchObject({ kind: 'test.double', input: { n: 1 }, result: { twice: 2 }, attempts: 0 })
  expect(job.endedAt).toBeGreaterThanOrEqual(job.startedAt!)
  expect(ran).toEqual([
    [1, 1],
    [3, 1],
  ])
  await expect(queue.add({ n: 'x' } as never)).rejects.toThrow(/expected number/)
  expect((await queue.list({ limit: 1 })).total).toBe(2)
  expect((await queue.list({ status: 'failed' })).items).toEqual([])
})

test('a job in a transaction is added with the rest of it, or not at all', async () => {
  const store = newStore()
  const { jobs } = await open(store)
  const queue = jobs.define(new Owner(), 'told', { input, run: () => 'done' })
  const things = jobsEngine.engine.namespace('somebody-else').collection('things', { schema: z.string() })
  await store.transaction((transaction) => {
    transaction.put(things, 'a', 'made')
    queue.addIn(transaction, { n: 1 }, { id: 'a' })
  })
  await become(queue, 'a', 'completed')
  const refused = store.transaction((transaction) => {
    queue.addIn(transaction, { n: 2 }, { id: 'b' })
    transaction.create(things, 'a', 'made again')
  })
  await expect(refused).rejects.toThrow(/already/)
  expect(await queue.get('b')).toBeUndefined()
})

test('an attempt that fails is followed by others at their times, and the last one by gaveUp', async () => {
  const clock = { at: 1_000_000 }
  const { jobs, state } = await open(newStore(), { now: () => clock.at })
  const attempts: [attempt: number, at: number][] = []
  const told: unknown[] = []
  const queue = jobs.define(new Owner(), 'doomed', {
    input,
    delaysMs: [5_000, 30_000],
    run: ({ attempt }) => {
      attempts.push([attempt, clock.at])
      throw Object.assign(new Error('no luck'), { code: 'luck', ...(attempt === 2 && { retryAfterS: 60 }) })
    },
    gaveUp: ({ id }, error) => told.push([id, error]),
  })
  await queue.add({ n: 1 }, { id: 'a' })
  for (const [index, dueAt] of [1_005_000, 1_065_000].entries()) {
    await expect.poll(async () => (await queue.get('a'))?.attempts, { interval: 5 }).toBe(index + 1)
    expect(await queue.get('a')).toMatchObject({ status: 'waiting', dueAt })
    clock.at = dueAt - 1
    state.wake()
    clock.at = dueAt
    state.wake()
  }
  const job = await become(queue, 'a', 'failed')
  const error = { message: 'no luck', code: 'luck' }
  expect(job).toMatchObject({ attempts: 3, error })
  expect(attempts).toEqual([
    [1, 1_000_000],
    [2, 1_005_000],
    [3, 1_065_000],
  ])
  expect(told).toEqual([[job.id, error]])
})

test('an error that another attempt cannot mend ends the job, and so does an input that fits no more', async () => {
  const store = newStore()
  const { jobs } = await open(store)
  const owner = new Owner()
  const run = vi.fn(() => {
    throw Object.assign(new Error('gone for good'), { retryable: false })
  })
  const queue = jobs.define(owner, 'final', { input, delaysMs: [0, 0], run })
  await queue.add({ n: 1 }, { id: 'a' })
  await become(queue, 'a', 'failed')
  expect(run).toHaveBeenCalledOnce()

  await queue.pause()
  await queue.add({ n: 2 }, { id: 'b' })
  await owner.release()
  const changed = jobs.define(new Owner(), 'final', { input: z.strictObject({ m: z.number() }), run })
  await changed.resume()
  expect((await become(changed, 'b', 'failed')).error!.message).toContain('"n"')
  expect(run).toHaveBeenCalledOnce()
})

test('no more run at a time than may, in all and in each lane, and a slow lane holds up itself alone', async () => {
  const { jobs } = await open(newStore())
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  let all = 0
  const gate = Promise.withResolvers<void>()
  const fast: number[] = []
  const queue = jobs.define(new Owner(), 'posts', {
    input: z.strictObject({ to: z.string(), n: z.number() }),
    concurrency: 5,
    lane: ({ to }) => to,
    perLane: 2,
    async run({ input: { to, n } }) {
      all += 1
      running.set(to, (running.get(to) ?? 0) + 1)
      most.set(to, Math.max(most.get(to) ?? 0, running.get(to)!))
      expect(all).toBeLessThanOrEqual(5)
      if (to === 'slow') await gate.promise
      else {
        await new Promise(setImmediate)
        fast.push(n)
      }
      running.set(to, running.get(to)! - 1)
      all -= 1
    },
  })
  const added: Promise<string>[] = []
  for (let n = 0; n < 20; n += 1)
    for (const to of ['slow', 'fast', 'naïve\u0000'])
      added.push(queue.add({ to, n }, { id: `${to.slice(0, 2) === 'na' ? 'odd' : to}-${n}` }))
  await Promise.all(added)
  await expect.poll(() => fast.length, { interval: 5 }).toBe(40)
  expect((await queue.list({ status: 'waiting' })).total).toBe(18)
  gate.resolve()
  await expect.poll(async () => (await queue.list({ status: 'completed' })).total, { interval: 5 }).toBe(60)
  expect([...most.values()]).toEqual([2, 2, 2])
})

test('a cancelled job is told, never begins again by itself, and has no other result', async () => {
  const { jobs } = await open(newStore())
  const signals: AbortSignal[] = []
  const gate = Promise.withResolvers<void>()
  const queue = jobs.define(new Owner(), 'long', {
    input,
    async run({ signal }) {
      signals.push(signal)
      await gate.promise
      return 'late'
    },
  })
  await queue.add({ n: 1 }, { id: 'a' })
  await queue.add({ n: 2 }, { id: 'b' })
  await become(queue, 'a', 'running')
  expect((await queue.cancel('b')).status).toBe('cancelled')
  expect((await queue.cancel('a')).status).toBe('cancelled')
  expect((await queue.cancel('a')).status).toBe('cancelled')
  await expect.poll(() => signals[0]!.aborted).toBe(true)
  gate.resolve()
  await queue.retry('b')
  expect((await become(queue, 'b', 'completed')).result).toBe('late')
  expect(await queue.get('a')).toMatchObject({ status: 'cancelled' })
  expect(await queue.get('a')).not.toHaveProperty('result')
  await expect(queue.cancel('b')).rejects.toMatchObject({ status: 409 })
  await expect(queue.retry('b')).rejects.toMatchObject({ status: 409 })
  await expect(queue.cancel('c')).rejects.toMatchObject({ status: 404 })
})

test('an attempt that takes too long is ended, and another follows', async () => {
  const { jobs } = await open(newStore())
  const queue = jobs.define(new Owner(), 'slow', {
    input,
    timeoutMs: 20,
    delaysMs: [0],
    run: ({ attempt, signal }) =>
      attempt === 1
        ? new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('left'))))
        : 'done',
  })
  await queue.add({ n: 1 }, { id: 'a' })
  const job = await become(queue, 'a', 'completed')
  expect(job).toMatchObject({ attempts: 1, result: 'done' })
})

test('what is paused does not start, also after a restart, and what nobody defines waits', async () => {
  const store = newStore()
  const first = await open(store)
  const run = vi.fn()
  const queue = first.jobs.define(new Owner(), 'later', { input, run })
  await queue.pause()
  await queue.add({ n: 1 }, { id: 'a' })
  await first.close()

  const second = await open(store)
  const again = second.jobs.define(new Owner(), 'later', { input, run })
  await again.add({ n: 2 }, { id: 'b' })
  await second.jobs.define(new Owner('other'), 'other', { input, run: () => {} }).add({ n: 1 }, { id: 'c' })
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(run).not.toHaveBeenCalled()
  await again.resume()
  await become(again, 'a', 'completed')
  await become(again, 'b', 'completed')
})

test('what ran when its process died is due again, ten times, and is then told as failed', async () => {
  const store = newStore()
  const began: number[] = []
  const told: unknown[] = []
  const define = ({ jobs }: JobsProcess, run: () => unknown) =>
    jobs.define(new Owner(), 'deadly', { input, run, gaveUp: (_, { message }) => told.push(message) })
  for (let life = 1; life <= 11; life += 1) {
    const one = await open(store)
    const queue = define(one, () => {
      began.push(life)
      return new Promise(() => {})
    })
    await queue.add({ n: 1 }, { id: 'a' })
    await expect.poll(() => began.length, { interval: 5 }).toBe(life)
    expect(await queue.get('a')).toMatchObject({ status: 'running', attempts: 0 })
    await one.close()
  }
  const last = define(await open(store), () => began.push(0))
  const job = await become(last, 'a', 'failed')
  expect(told).toEqual([job.error!.message])
  expect(began).toHaveLength(11)
})

test('when an instance goes, what it runs goes on with the next one, and that is no failure', async () => {
  const { jobs } = await open(newStore())
  const old = new Owner()
  const began = Promise.withResolvers<void>()
  const before = jobs.define(old, 'moved', {
    input,
    run: ({ signal }) => {
      began.resolve()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('left'))))
    },
  })
  expect(() => jobs.define(old, 'moved', { input, run: () => {} })).toThrow(/twice/)
  await before.add({ n: 1 }, { id: 'a' })
  await began.promise
  const after = jobs.define(new Owner(), 'moved', { input, run: () => 'by the newer one' })
  await before.add({ n: 2 }, { id: 'b' })
  expect((await after.get('b'))!.status).toBe('waiting')
  await old.release()
  for (const id of ['a', 'b'])
    expect(await become(after, id, 'completed')).toMatchObject({ result: 'by the newer one', attempts: 0 })
})

test('a job that fails since its instance goes has not failed, however long other releases take', async () => {
  const { jobs } = await open(newStore())
  const old = new Owner()
  const began = Promise.withResolvers<void>()
  const others = Promise.withResolvers<void>()
  const before = jobs.define(old, 'cut', {
    input,
    run: ({ signal }) => {
      began.resolve()
      // As a call does that the instance has made.
      return new Promise((_, reject) =>
        old.signal.addEventListener('abort', () => reject(new Error(`cut, ${signal.aborted}`))),
      )
    },
  })
  old.own(() => others.promise)
  await before.add({ n: 1 }, { id: 'a' })
  await began.promise
  const released = old.release()
  expect(await become(before, 'a', 'waiting')).toMatchObject({ attempts: 0 })
  others.resolve()
  await released
  const after = jobs.define(new Owner(), 'cut', { input, run: () => 'by the newer one' })
  expect(await become(after, 'a', 'completed')).toMatchObject({ result: 'by the newer one', attempts: 0 })
})

test('when jobs themselves are set up anew, definitions stay, and what runs is not begun again', async () => {
  const store = newStore()
  const before = await open(store)
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let began = 0
  const queue = before.jobs.define(new Owner(), 'lasting', {
    input,
    run: async () => {
      began += 1
      await gates[began - 1]!.promise
    },
  })
  await queue.add({ n: 1 }, { id: 'a' })
  await become(queue, 'a', 'running')
  await open(store, { state: before.state })
  await before.close()
  await queue.add({ n: 2 }, { id: 'b' })
  expect(await queue.get('a')).toMatchObject({ status: 'running' })
  gates[0]!.resolve()
  await become(queue, 'a', 'completed')
  await become(queue, 'b', 'running')
  gates[1]!.resolve()
  await become(queue, 'b', 'completed')
  expect(began).toBe(2)
})

test('jobs that wait are not read until they are due, and the first that is due is the one there is a timer for', async () => {
  const clock = { at: 1_000_000 }
  const { jobs, table, state } = await open(newStore(), { now: () => clock.at })
  const queue = jobs.define(new Owner(), 'patient', { input, run: ({ input: { n } }) => n })
  const reads = vi.spyOn(table, 'first')
  await Promise.all(
    Array.from({ length: 500 }, (_, n) => queue.add({ n }, { id: String(n), at: 2_000_000 + n })),
  )
  await queue.add({ n: -1 }, { id: 'soon', at: 1_000_020 })
  for (let n = 0; n < 20; n += 1) {
    state.wake()
    await new Promise(setImmediate)
  }
  expect(reads).not.toHaveBeenCalled()
  clock.at = 1_000_020
  await become(queue, 'soon', 'completed')
  expect(reads).toHaveBeenCalledOnce()
})

test('jobs that ended are forgotten when they are too old or too many, with their steps', async () => {
  const clock = { at: 1_000_000 }
  const store = newStore()
  const { jobs, table, state } = await open(store, { now: () => clock.at })
  const queue = jobs.define(new Owner(), 'kept', {
    input,
    keep: { days: 1, most: 3 },
    run: ({ step }) => step('one', () => 1),
  })
  for (let n = 0; n < 5; n += 1) {
    await queue.add({ n }, { id: String(n) })
    await become(queue, String(n), 'completed')
    clock.at += 1_000
  }
  await tidy(state, table, clock.at)
  expect((await queue.list()).items.map(({ id }) => id)).toEqual([
    'test.kept:4',
    'test.kept:3',
    'test.kept:2',
  ])
  await tidy(state, table, clock.at + 24 * 3_600_000 - 1_500)
  expect((await queue.list()).items.map(({ id }) => id)).toEqual(['test.kept:4'])
  const contents = await jobsEngine.engine.contents(jobsEngine.part)
  expect(contents.map(({ path: at, entries }) => [at.split('/').at(-1), entries])).toEqual(
    expect.arrayContaining([
      ['jobs', 1],
      ['memos', 1],
    ]),
  )
})
