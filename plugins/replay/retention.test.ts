import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { unmade } from './runs/figures.ts'
import type { RunRow } from './runs/row.ts'
import { Runs } from './runs/runs.ts'
import { Shares } from './shares/shares.ts'

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-replay-'))
  engine = await openLevel(path.join(folder, 'db'))
})

afterEach(() => vi.useRealTimers())

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const run = (id: string, created_at: string, status: RunRow['status']): RunRow => ({
  id,
  visibility: 'private',
  status,
  source: unmade('m'),
  target: unmade('m'),
  quality: { similarity: null, json_valid: null, source_json_valid: null },
  overrides: '{}',
  created_at,
})

test('runs go with their age, and those of a process that has gone end', async () => {
  const runs = new Runs({ store: engine.namespace('runs') })
  await runs.add(run('rpl_1', '2033-03-01T12:00:00.000Z', 'success'))
  await runs.add(run('rpl_2', '2033-03-11T12:00:00.000Z', 'running'))
  await runs.add(run('rpl_3', '2033-03-12T12:00:00.000Z', 'running'))
  await runs.endInterrupted(Date.parse('2033-03-12T00:00:00Z'))
  const left = async () =>
    (await runs.list({}, { limit: 10 })).items.map(({ id, status }) => [id, status].join(' '))
  expect(await left()).toEqual(['rpl_3 running', 'rpl_2 error', 'rpl_1 success'])
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2033-03-31T12:00:00Z') })
  await runs.prune(30)
  expect(await left()).toHaveLength(3)
  vi.setSystemTime(Date.now() + 1)
  await runs.prune(30)
  expect(await left()).toEqual(['rpl_3 running', 'rpl_2 error'])
})

test('shares go with what they show when they have expired, and one owner has a hundred', async () => {
  const absent = () => undefined
  const context = { id: 'replay', store: engine.namespace('shares'), find: absent, use: absent as never }
  const shares = new Shares(context, 30)
  const ada = { type: 'user', keyId: 'key_a', userId: 'usr_a', plan: 'free', tenant: undefined } as const
  const draft = { kind: 'playground', content: { said: 'hello' } } as const
  const open = (secret: string) => shares.open('playground', secret, z.object({ said: z.string() }))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2033-03-01T12:00:00Z') })
  const { secret } = await shares.add(ada, draft)
  expect(await open(secret)).toMatchObject({ content: { said: 'hello' }, row: { views: 1 } })
  for (let n = 1; n < 100; n += 1) await shares.add(ada, draft)
  await expect(shares.add(ada, draft)).rejects.toMatchObject({ status: 409 })
  await shares.add({ ...ada, userId: 'usr_b' }, draft)
  vi.setSystemTime(Date.parse('2033-03-31T12:00:00.001Z'))
  await shares.prune()
  expect(await shares.list(undefined, { limit: 1 })).toMatchObject({ items: [], total: 0 })
  const contents = context.store.collection('contents', { schema: z.object({ body: z.string() }) })
  expect(await contents.count()).toBe(0)
})
