import { expect, test } from 'vitest'
import { z } from 'zod'
import type { JobDefinition } from '#kernel'
import { type JobsProcess, Owner } from '../../test/jobs.ts'
import { JobsEngine } from '../../test/jobs-engine.ts'

const jobsEngine = new JobsEngine()
const { newStore } = jobsEngine

const open = (store = newStore()): Promise<JobsProcess> => jobsEngine.open(store)

const input = z.strictObject({ n: z.number() })
type Definition = JobDefinition<z.infer<typeof input>, { at: number }>

/** A kind whose jobs wait for a signal, and what its plugin was told of them. */
function waiting(
  { jobs }: JobsProcess,
  given: Partial<Definition> = {},
  { owner = new Owner() }: { owner?: Owner } = {},
) {
  const told: unknown[] = []
  const queue = jobs.define(owner, 'work', {
    input,
    state: z.strictObject({ at: z.number() }),
    async run(job) {
      await job.save({ at: job.input.n })
      await job.waitFor('go')
    },
    cancelled: ({ id, input, state }) => void told.push([id, input, state]),
    ...given,
  })
  const begun = (id: string) =>
    expect.poll(async () => (await queue.get(id))?.waitsFor, { interval: 5 }).toBe('go')
  return { queue, told, owner, begun }
}

const left = async ({ table }: JobsProcess): Promise<number> => table.cancellations.count()
const settled = (process: JobsProcess) => expect.poll(() => left(process), { interval: 5 }).toBe(0)

test('a plugin is told once of a job that an admin cancels, with what the job has saved, and not of its own doing', async () => {
  const process = await open()
  const { queue, told, begun } = waiting(process)
  for (const n of [1, 2, 3]) await queue.add({ n }, { id: `${n}` })
  for (const id of ['1', '2', '3']) await begun(id)
  await queue.cancel('1')
  await queue.delete('2')
  expect((await process.table.cancel('test.work:3')).status).toBe('cancelled')
  await process.table.cancel('test.work:3')
  await settled(process)
  expect(told).toEqual([['test.work:3', { n: 3 }, { at: 3 }]])
  await process.table.cancel('test.work:1')
  expect(await left(process)).toBe(0)
})

test('a plugin is told when the code of the job has stopped', async () => {
  const process = await open()
  const order: string[] = []
  const gate = Promise.withResolvers<void>()
  const { queue } = waiting(process, {
    async run({ signal }) {
      order.push('runs')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      order.push('stops')
      await gate.promise
      order.push('has stopped')
    },
    cancelled: () => void order.push('told'),
  })
  await queue.add({ n: 1 }, { id: 'a' })
  await expect.poll(() => order, { interval: 5 }).toEqual(['runs'])
  await process.table.cancel('test.work:a')
  await expect.poll(() => order, { interval: 5 }).toEqual(['runs', 'stops'])
  gate.resolve()
  await settled(process)
  expect(order).toEqual(['runs', 'stops', 'has stopped', 'told'])
})

test('a plugin that is not there when its job is cancelled is told when it is, also by another process', async () => {
  const store = newStore()
  const first = await open(store)
  const { queue, told, owner, begun } = waiting(first)
  await queue.add({ n: 1 }, { id: 'off' })
  await begun('off')
  await owner.release()
  await first.table.cancel('test.work:off')
  await first.close()

  const second = await open(store)
  expect(await left(second)).toBe(1)
  const unborn = waiting(second, {}, { owner: new Owner('test', { isLive: false }) })
  expect(await left(second)).toBe(1)
  unborn.owner.goLive()
  await settled(second)
  expect([told, unborn.told]).toEqual([[], [['test.work:off', { n: 1 }, { at: 1 }]]])
})

test('what broke off while a plugin was told is told to its successor, and what failed is told again later', async () => {
  const store = newStore()
  const process = await open(store)
  let calls = 0
  const stops = waiting(process, {
    cancelled: ({ signal }) => {
      calls += 1
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  })
  await stops.queue.add({ n: 1 }, { id: 'a' })
  await stops.begun('a')
  await process.table.cancel('test.work:a')
  await expect.poll(() => calls, { interval: 5 }).toBe(1)
  await stops.owner.release()
  expect(await left(process)).toBe(1)
  expect(process.logged).toEqual([])

  const fails = waiting(process, {
    cancelled: () => {
      calls += 1
      throw new Error('not now')
    },
  })
  await expect.poll(() => process.logged.join(), { interval: 5 }).toContain('not now')
  await fails.owner.release()
  const works = waiting(process)
  await process.remind()
  await settled(process)
  expect(calls).toBe(2)
  expect(works.told).toHaveLength(1)
})

test('a job that is tried again before its plugin knows goes on, and a kind that need not know leaves nothing', async () => {
  const process = await open()
  const { queue, told, owner, begun } = waiting(process)
  await queue.add({ n: 1 }, { id: 'a' })
  await begun('a')
  await owner.release()
  await process.table.cancel('test.work:a')
  await queue.retry('a')
  const again = waiting(process)
  await settled(process)
  expect([...told, ...again.told]).toEqual([])
  await again.begun('a')

  const { queue: plain } = waiting(process, { cancelled: undefined } as never, { owner: new Owner('other') })
  await plain.add({ n: 1 }, { id: 'b' })
  await process.table.cancel('other.work:b')
  await settled(process)
  expect((await plain.get('b'))?.status).toBe('cancelled')
})
