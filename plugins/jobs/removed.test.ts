import { expect, test } from 'vitest'
import { z } from 'zod'
import { createLog } from '../../gateway/log.ts'
import { type JobsProcess, Owner } from '../../test/jobs.ts'
import { JobsEngine } from '../../test/jobs-engine.ts'
import { goneMs, RemovedPlugins } from './removed.ts'

const dayMs = 24 * 3_600_000

const jobsEngine = new JobsEngine()
const { newStore } = jobsEngine

/** Jobs with a clock of their own, beside plugins that are there or not. */
async function open(store = newStore(), there: readonly string[] = []) {
  const clock = { at: Date.parse('2026-03-01T12:00:00Z') }
  const now = () => clock.at
  const made = await jobsEngine.open(store, { now })
  const plugins = new Set(there)
  const removed = new RemovedPlugins({
    ...made,
    now,
    log: createLog({ level: 'silent' }),
    isThere: (owner) => plugins.has(owner),
  })
  /** Looks, and looks again after a time. */
  const tidyAfter = async (ms: number): Promise<void> => {
    await removed.tidy()
    clock.at += ms
    await removed.tidy()
  }
  return { ...made, clock, plugins, tidyAfter }
}

const input = z.strictObject({ n: z.number() })

function define({ jobs }: JobsProcess, owner: Owner) {
  const told: string[] = []
  const queue = jobs.define(owner, 'work', {
    input,
    async run(job) {
      if (job.input.n > 0) await job.waitFor('go')
    },
    cancelled: ({ id }) => void told.push(id),
  })
  return { queue, told }
}

test('jobs that wait for a plugin that was removed are cancelled and say why; it is told if it comes back', async () => {
  const process = await open()
  const { tidyAfter } = process
  const owner = new Owner('gone')
  const { queue } = define(process, owner)
  await queue.add({ n: 1 }, { id: 'signal' })
  await expect.poll(async () => (await queue.get('signal'))?.waitsFor).toBe('go')
  await tidyAfter(goneMs)
  expect((await queue.get('signal'))?.status).toBe('waiting')
  await owner.release()
  await queue.add({ n: 0 }, { id: 'due' })
  await tidyAfter(goneMs - 1)
  expect((await queue.get('due'))?.status).toBe('waiting')
  await tidyAfter(1)
  for (const id of ['signal', 'due'])
    expect(await queue.get(id)).toMatchObject({
      status: 'cancelled',
      error: { code: 'plugin_removed', message: expect.stringContaining('removed') },
    })
  const { told } = define(process, new Owner('gone'))
  await expect.poll(() => told.toSorted()).toEqual(['gone.work:due', 'gone.work:signal'])
})

test('jobs of a plugin that is switched off wait, and so do those of one that is put back in time', async () => {
  const process = await open(newStore(), ['off', 'a/binding'])
  const { tidyAfter, plugins } = process
  const owners = ['off', 'a/binding', 'replaced'].map((id) => new Owner(id))
  const queues = owners.map((owner) => define(process, owner).queue)
  for (const owner of owners) await owner.release()
  for (const queue of queues) await queue.add({ n: 0 }, { id: 'one' })
  await tidyAfter(goneMs - 1)
  plugins.add('replaced')
  await tidyAfter(30 * dayMs)
  plugins.delete('replaced')
  await tidyAfter(goneMs - 1)
  for (const queue of queues) expect((await queue.get('one'))?.status).toBe('waiting')
})

test('ended jobs of a plugin that was removed go by the usual age, with all that is kept of them', async () => {
  const process = await open()
  const { tidyAfter } = process
  const owner = new Owner('gone')
  const { queue } = define(process, owner)
  await queue.add({ n: 0 }, { id: 'ended' })
  await expect.poll(async () => (await queue.get('ended'))?.status).toBe('completed')
  await owner.release()
  await queue.add({ n: 0 }, { id: 'waits' })
  await tidyAfter(goneMs)
  await tidyAfter(7 * dayMs - goneMs)
  expect((await queue.list()).items.map(({ id }) => id)).toEqual(['gone.work:waits', 'gone.work:ended'])
  await tidyAfter(1)
  expect((await queue.list()).items.map(({ id }) => id)).toEqual(['gone.work:waits'])
  await tidyAfter(goneMs)
  expect((await queue.list()).items).toEqual([])
  const entries = (await jobsEngine.engine.contents(jobsEngine.part)).map(({ entries }) => entries)
  expect(entries.every((count) => count === 0)).toBe(true)
})

test('a schedule of a plugin that comes back begins anew, at the time that was cancelled too', async () => {
  const process = await open()
  const { jobs, table, tidyAfter } = process
  const schedule = (owner: Owner): void => jobs.cron(owner, 'daily', '0 0 * * *', () => {})
  const ids = async () => (await table.list({ kind: 'gone.daily' }, { limit: 10 })).items.map(({ id }) => id)
  const owner = new Owner('gone')
  schedule(owner)
  const planned = 'gone.daily:2026-03-02T00:00:00.000Z'
  await expect.poll(ids).toEqual([planned])
  await owner.release()
  await tidyAfter(goneMs)
  expect(await ids()).toEqual([])
  schedule(new Owner('gone'))
  await expect.poll(ids).toEqual([planned])
})
