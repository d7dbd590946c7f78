import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { AesSecrets } from '../../gateway/secrets/aes-secrets.ts'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { Owner, openJobs, openTable } from '../../test/jobs.ts'
import { placesOf } from '../../test/raw-store.ts'
import { Contents } from './contents.ts'

let folder: string
let engine: Engine

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-job-contents-'))
  engine = await openLevel(path.join(folder, 'db'))
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const input = z.strictObject({ text: z.string() })

test('what a job gets, saves, returns and fails with is on disk, and in none of its files in the clear', async () => {
  const { jobs, close } = await openJobs(engine)
  const told: unknown[] = []
  const queue = jobs.define(new Owner(), 'work', {
    input,
    lane: () => 'lane-in-the-clear',
    async run({ input: { text }, step, save, waitFor }) {
      const made = await step('make', () => `step ${text}`)
      await save({ saved: text })
      if (text.startsWith('fails')) throw new Error(`error ${text}`)
      return { made, came: await waitFor('go') }
    },
    gaveUp: ({ input, state }, error) => told.push(input, state, error),
  })
  for (const text of ['saffron', 'fails saffron']) await queue.add({ text }, { id: text.split(' ')[0]! })
  await queue.signal('saffron', 'go', 'signal saffron')
  await expect
    .poll(async () => (await queue.list()).items.every(({ endedAt }) => endedAt !== undefined))
    .toBe(true)

  const state = { saved: 'saffron' }
  const result = { made: 'step saffron', came: 'signal saffron' }
  expect(await queue.get('saffron')).toMatchObject({ input: { text: 'saffron' }, state, result })
  const error = { message: 'error fails saffron' }
  expect(await queue.get('fails')).toMatchObject({ status: 'failed', error })
  expect(told).toEqual([{ text: 'fails saffron' }, { saved: 'fails saffron' }, error])
  await close()
  await engine.close()
  // Ids are in the clear, and so the scan is known to find what there is.
  expect(await placesOf(folder, 'lane-in-the-clear')).toContain('jobs')
  expect(await placesOf(folder, 'step saffron')).toEqual([])
  for (const text of ['{"text":"saffron', '{\\"text', 'saved', 'error fails', 'signal saffron'])
    expect(await placesOf(folder, text), text).toEqual([])
})

test('a job of an earlier version is read as it is, and one under another key fails with the way to repair it', async () => {
  const table = openTable(engine, Date.now)
  const row = { kind: 'test.work', lane: '', status: 'waiting', attempts: 0, addedAt: 0, dueAt: 0 } as const
  const foreign = new Contents(new AesSecrets(Buffer.alloc(32, 'other'))).seal({ text: 'b' })
  await table.add({ ...row, id: 'test.work:plain', input: { text: 'a' } })
  await table.add({ ...row, id: 'test.work:foreign', input: foreign })
  const { jobs, close } = await openJobs(engine)
  const ran: string[] = []
  const queue = jobs.define(new Owner(), 'work', {
    input,
    delaysMs: [0],
    run: ({ input: { text } }) => void ran.push(text),
  })
  await expect.poll(async () => (await queue.get('foreign'))?.status).toBe('failed')
  await expect.poll(async () => (await queue.get('plain'))?.status).toBe('completed')
  expect(ran).toEqual(['a'])
  const { input: shown, attempts, error } = (await queue.get('foreign'))!
  expect([shown, attempts, error!.code]).toEqual([undefined, 1, 'SECRET_UNREADABLE'])
  expect(error!.message).toContain('SERVICE_ENCRYPTION_KEY')
  await close()
})
