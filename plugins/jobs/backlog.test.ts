import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { Owner, openJobs } from '../../test/jobs.ts'

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-jobs-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const input = z.strictObject({ to: z.string(), n: z.number() })
const lane = ({ to }: z.infer<typeof input>): string => to

/** Times of jobs that are added for a second after 1,000,000, seen at a start a minute later. */
async function overdue(part: string, counts: Readonly<Record<string, number>>, spreadMs?: number) {
  const clock = { at: 1_000_000 }
  const store = engine.namespace(part)
  const before = await openJobs(store, { now: () => clock.at })
  const kind = { input, lane, concurrency: 10_000, ...(spreadMs !== undefined && { spreadMs }) }
  const owner = new Owner()
  const added = before.jobs.define(owner, 'sent', { ...kind, run: () => 'sent' })
  await Promise.all(
    Object.entries(counts).flatMap(([to, count]) =>
      Array.from({ length: count }, (_, n) => added.add({ to, n }, { id: `${to}-${n}`, at: 1_001_000 })),
    ),
  )
  await added.add({ to: 'later', n: 0 }, { id: 'later', at: 5_000_000 })
  await owner.release()
  await before.close()

  clock.at = 1_061_000
  const after = await openJobs(store, { now: () => clock.at })
  const started: string[] = []
  const again = new Owner()
  const queue = after.jobs.define(again, 'sent', {
    ...kind,
    run: ({ input: { to } }) => void started.push(to),
  })
  return {
    queue,
    started,
    goTo: (at: number): void => {
      clock.at = at
      after.state.wake()
    },
    dueAt: async (id: string) => (await queue.get(id))!.dueAt! - 1_061_000,
    end: async () => {
      await again.release()
      await after.close()
    },
  }
}

test('what is overdue at a start is spread for each lane, the first job at once and all within the time', async () => {
  const { started, dueAt, goTo, end } = await overdue('spread', { a: 1200, b: 3 }, 60_000)
  await expect.poll(() => started.toSorted()).toEqual(['a', 'b'])
  expect(await Promise.all(['b-1', 'b-2', 'later'].map(dueAt))).toEqual([100, 200, 3_939_000])
  const times = await Promise.all(Array.from({ length: 1199 }, (_, n) => dueAt(`a-${n + 1}`)))
  expect(times.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 1199 }, (_, n) => 50 * (n + 1)))
  goTo(1_061_100)
  await expect.poll(() => started.toSorted()).toEqual(['a', 'a', 'a', 'b', 'b'])
  goTo(1_121_000)
  await expect.poll(() => started.length).toBe(1203)
  await end()
})

test('without a time they all start at once', async () => {
  const { started, end } = await overdue('at-once', { a: 20, b: 3 })
  await expect.poll(() => started.length).toBe(23)
  await end()
})
