import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Store } from '#kernel'
import { createLog } from '../../gateway/log.ts'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { type JobsProcess, Owner, openJobs } from '../../test/jobs.ts'
import { goneMs, RemovedPlugins } from './removed.ts'

const dayMs = 24 * 3_600_000

let folder: string
let engine: Engine
let parts = 0
const opened: JobsProcess[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-removed-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  for (const { close } of opened) await close()
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const newStore = (): Store => {
  parts += 1
  return engine.namespace(`part-${parts}`)
}

/** Jobs with a clock of their own, beside plugins that are there or not. */
async function open(store = newStore(), there: readonly string[] = []) {
  const clock = { at: Date.parse('2026-03-01T12:00:00Z') }
  const now = () => clock.at
  const made = await openJobs(store, { now })
  opened.push(made)
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
  const entries = (await engine.contents(`part-${parts}`)).map(({ entries }) => entries)
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
