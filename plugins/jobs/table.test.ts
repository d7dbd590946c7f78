import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { openTable } from '../../test/jobs.ts'
import { cancel, complete, retry } from './changes.ts'
import { LeaseLost } from './errors.ts'
import type { JobRow } from './row.ts'
import type { JobTable } from './table.ts'

let folder: string
let engine: Engine
let table: JobTable

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-job-table-'))
  engine = await openLevel(folder)
  table = openTable(engine, () => 1_000)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const row = (id: string, given: Partial<JobRow> = {}): JobRow => ({
  id,
  kind: 'k',
  lane: '',
  status: 'waiting',
  input: null,
  attempts: 0,
  addedAt: 0,
  dueAt: 0,
  ...given,
})

test('who has lost a lease can record nothing of the job, not even when it runs again', async () => {
  await table.add(row('a'))
  const [first] = await table.claim(['a'], () => 'lease-1')
  await table.memos.keep(first!, 'step', 'one', 1)
  await table.change('a', cancel)
  await table.change('a', retry)
  const [second] = await table.claim(['a'], () => 'lease-2')
  expect(await table.memos.get(second!, 'step', 'one')).toEqual({ value: 1 })
  const attempts = [
    table.changeHeld(first!, (row, now) => complete(row, 'late', now)),
    table.memos.keep(first!, 'step', 'two', 2),
    table.memos.suspend(first!, { dueAt: 5_000 }),
  ]
  for (const attempt of attempts) await expect(attempt).rejects.toThrow(LeaseLost)
  expect(await table.get('a')).toEqual(second)
  expect(await table.memos.get(second!, 'step', 'two')).toBeUndefined()
})

test('jobs are claimed once, when they are due', async () => {
  await table.add(row('due'))
  await table.add(row('later', { dueAt: 1_001 }))
  const [one, other] = await Promise.all([
    table.claim(['due', 'later', 'none'], () => 'x'),
    table.claim(['due', 'later'], () => 'y'),
  ])
  expect([...one, ...other].map(({ id, lease }) => [id, lease])).toEqual([['due', 'x']])
})

test('the first of each lane is found without reading the others', async () => {
  const lanes = ['', 'a', 'a\u0000', 'a!', 'b', 'é', '🚂']
  for (const [index, lane] of lanes.entries())
    for (const dueAt of [30, 10, 20])
      await table.add(row(`${index}-${dueAt}`, { kind: 'laned', lane, dueAt }))
  await table.add(row('else', { kind: 'lanee', lane: 'z' }))
  const heads: [string, number | undefined][] = []
  for await (const { lane, dueAt } of table.heads('laned')) heads.push([lane, dueAt])
  expect(heads).toEqual(lanes.map((lane) => [lane, 10]))
})

test('a signal that comes between the question for it and the wait is not lost, and the first of a name holds', async () => {
  await table.add(row('s'))
  const [job] = await table.claim(['s'], () => 'lease-s')
  await table.memos.signal('s', 'go', 'first')
  await table.memos.signal('s', 'go', 'second')
  await table.memos.suspend(job!, { waitsFor: 'go' })
  expect(await table.get('s')).toMatchObject({ status: 'waiting', dueAt: 1_000 })
  expect(await table.memos.get(job!, 'signal', 'go')).toEqual({ value: 'first' })
})
