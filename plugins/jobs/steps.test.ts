import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { Job, JobDefinition, JobQueue } from '#kernel'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { type JobsProcess, Owner, openJobs } from '../../test/jobs.ts'

/** The tools of a job's code: steps, saved state, times and signals that it waits for. */

const start = 1_000_000

let folder: string
let engine: Engine
let part = 0
let now: number
let process: JobsProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-job-steps-'))
  engine = await openLevel(folder)
})

beforeEach(async () => {
  await process?.close()
  part += 1
  now = start
  process = await openJobs(engine.namespace(`part-${part}`), { now: () => now })
})

afterAll(async () => {
  await process.close()
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

type Run = (job: Job<null>) => unknown

function define(run: Run, more: Partial<JobDefinition<null>> = {}, owner = new Owner()): JobQueue<null> {
  return process.jobs.define(owner, 'job', { input: z.null(), run, ...more })
}

/** Until the job stands so. */
const becomes = (queue: JobQueue<null>, expected: object) =>
  expect.poll(() => queue.get('a'), { interval: 5 }).toMatchObject(expected)

function comes(time: number): void {
  now = time
  process.state.wake()
}

test('a step that failed runs again, one that is done does not, and its value is the same for both attempts', async () => {
  const did: string[] = []
  const values: unknown[] = []
  const queue = define(
    async ({ step, attempt }) => {
      values.push(
        await step('first', (key) => {
          did.push(key)
          return { at: new Date(0), nothing: undefined }
        }),
      )
      await step('second', () => {
        did.push(`second ${attempt}`)
        if (attempt === 1) throw new Error('not yet')
      })
    },
    { delaysMs: [0] },
  )
  await queue.add(null, { id: 'a' })
  await becomes(queue, { status: 'completed', attempts: 1 })
  expect(did).toEqual(['test.job:a first', 'second 1', 'second 2'])
  expect(values).toEqual([{ at: '1970-01-01T00:00:00.000Z' }, { at: '1970-01-01T00:00:00.000Z' }])
})

test('steps at a time are kept each, and those that go on are waited for when another fails', async () => {
  let slow = 0
  const gate = Promise.withResolvers<void>()
  const queue = define(
    ({ step, attempt }) =>
      Promise.all([
        step('quick', () => {
          if (attempt === 1) throw new Error('no')
          return 'quick'
        }),
        step('slow', async () => {
          await gate.promise
          slow += 1
          return 'slow'
        }),
        step('slow', () => 'of the same name'),
      ]),
    { delaysMs: [0] },
  )
  await queue.add(null, { id: 'a' })
  await becomes(queue, { status: 'running' })
  gate.resolve()
  await becomes(queue, { status: 'completed', result: ['quick', 'slow', 'slow'] })
  expect(slow).toBe(1)
})

test('what is saved is there for the next attempt, also of another version if it fits', async () => {
  const states: unknown[] = []
  const run: Run = async ({ state, save, attempt }) => {
    states.push(state)
    await save({ page: attempt }, { done: attempt, total: 3 })
    throw new Error('again')
  }
  const owner = new Owner()
  const queue = define(run, { delaysMs: [1_000, 1_000] }, owner)
  await queue.add(null, { id: 'a' })
  await becomes(queue, {
    attempts: 1,
    status: 'waiting',
    state: { page: 1 },
    progress: { done: 1, total: 3 },
  })
  comes(start + 1_000)
  await becomes(queue, { attempts: 2, status: 'waiting' })
  await owner.release()
  define(run, { delaysMs: [1_000, 1_000], state: z.strictObject({ offset: z.number() }) })
  comes(start + 2_000)
  await becomes(queue, { status: 'failed', state: { page: 3 } })
  expect(states).toEqual([undefined, { page: 1 }, undefined])
})

test('a job that sleeps has no place, wakes at the time that was said first, and its attempt goes on', async () => {
  const seen: unknown[] = []
  const queue = define(async ({ sleepUntil, attempt }) => {
    seen.push(attempt)
    try {
      await sleepUntil('a while', now + 60_000)
    } catch (error) {
      seen.push((error as Error).name)
    }
    return 'slept'
  })
  await queue.add(null, { id: 'a' })
  await becomes(queue, { status: 'waiting', dueAt: start + 60_000, attempts: 0 })
  await queue.add(null, { id: 'b' })
  await expect.poll(async () => (await queue.get('b'))?.dueAt, { interval: 5 }).toBe(start + 60_000)
  comes(start + 59_999)
  comes(start + 60_000)
  await becomes(queue, { status: 'completed', result: 'slept' })
  await expect.poll(async () => (await queue.get('b'))?.status, { interval: 5 }).toBe('completed')
  expect(seen.filter((one) => one === 1)).toHaveLength(4)
})

test('a signal is heard whether it came before or after, and the first one holds', async () => {
  const queue = define(async ({ waitFor }) => [await waitFor('one'), await waitFor('two')])
  await queue.pause()
  await queue.add(null, { id: 'a' })
  await queue.signal('a', 'two', { n: 2 })
  await queue.resume()
  await becomes(queue, { status: 'waiting', waitsFor: 'one' })
  expect(await queue.get('a')).not.toHaveProperty('dueAt')
  await queue.signal('a', 'one', 1)
  await queue.signal('a', 'one', 'too late')
  await becomes(queue, { status: 'completed', result: [1, { n: 2 }] })
  await expect(queue.signal('a', 'one')).rejects.toMatchObject({ status: 409 })
  await expect(queue.signal('none', 'one')).rejects.toMatchObject({ status: 404 })
})

test('who waits for a signal until a time goes on without it, and one that comes later changes nothing', async () => {
  const heard: unknown[] = []
  const queue = define(
    async ({ waitFor, step, attempt }) => {
      heard.push(await waitFor('go', { until: now + 1_000 }))
      await step('after', () => {
        if (attempt === 1) throw new Error('again')
      })
      return 'done'
    },
    { delaysMs: [1_000] },
  )
  await queue.add(null, { id: 'a' })
  await becomes(queue, { waitsFor: 'go', dueAt: start + 1_000 })
  comes(start + 1_000)
  await becomes(queue, { status: 'waiting', attempts: 1 })
  await queue.signal('a', 'go', 'late')
  comes(start + 2_000)
  await becomes(queue, { status: 'completed' })
  expect(heard).toEqual([undefined, undefined])
})

test('a job that is deleted is told to stop and leaves the disk with its steps', async () => {
  const left = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  const queue = define(async ({ step, signal }) => {
    await step('one', () => 1)
    signal.addEventListener('abort', () => left.resolve())
    began.resolve()
    await left.promise
    await step('two', () => 2)
  })
  await queue.add(null, { id: 'a' })
  await began.promise
  expect(await queue.delete('a')).toBe(true)
  await left.promise
  expect(await queue.delete('a')).toBe(false)
  await expect.poll(() => process.state.runs.size, { interval: 5 }).toBe(0)
  const entries = (await engine.contents(`part-${part}`)).map(({ entries }) => entries)
  expect(Math.max(...entries)).toBe(0)
})

test('what is told that a job failed may take its own time after an attempt that took too long', async () => {
  const told: boolean[] = []
  const queue = define(({ signal }) => new Promise((_, no) => signal.addEventListener('abort', no)), {
    timeoutMs: 20,
    gaveUp: ({ signal }) => told.push(signal.aborted),
  })
  await queue.add(null, { id: 'a' })
  await becomes(queue, { status: 'failed', error: { message: 'The job took longer than it may' } })
  expect(told).toEqual([false])
})

test('names and times that are none are mistakes of the job', async () => {
  const problems: string[] = []
  const note = async (what: Promise<unknown>): Promise<void> => {
    await what.catch((error: Error) => problems.push(error.constructor.name))
  }
  const queue = define(async ({ step, sleepUntil, waitFor }) => {
    await note(step('', () => 1))
    await note(step('x'.repeat(201), () => 1))
    await note(sleepUntil('when', Number.NaN))
    await note(waitFor('\0'))
    await note(step('big', () => 1n))
  })
  await queue.add(null, { id: 'a' })
  await becomes(queue, { status: 'completed' })
  expect(problems).toEqual(Array.from({ length: 5 }, () => 'TypeError'))
})
