import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Engine } from '../../../storage/index.ts'
import { openLevel } from '../../../storage/level.ts'
import { FeedbackStore } from './store.ts'

/** Nothing of an earlier version is in the store, so nothing is asked. */
const unused = (): never => expect.unreachable()

let folder: string
let engine: Engine
let feedback: FeedbackStore

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-feedback-'))
  engine = await openLevel(path.join(folder, 'db'))
  feedback = new FeedbackStore({ store: engine.namespace('feedback'), use: unused })
})

afterEach(() => {
  vi.useRealTimers()
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

test('feedback goes with the days since it was last said, and no earlier', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2033-03-01T12:00:00Z') })
  const say = (trace_id: string) =>
    feedback.say({ trace_id, author: 'usr_1', user_id: 'usr_1', tags: [], model: 'm', score: 1 })
  await say('tr_old')
  await say('tr_again')
  vi.setSystemTime(Date.parse('2033-03-11T12:00:00Z'))
  await say('tr_again')
  await say('tr_new')
  const left = async () => {
    await feedback.prune(10)
    const { items } = await feedback.list({}, { limit: 10 })
    return items.map((row) => row.trace_id).sort()
  }
  expect(await left()).toEqual(['tr_again', 'tr_new', 'tr_old'])
  vi.setSystemTime(Date.now() + 1)
  expect(await left()).toEqual(['tr_again', 'tr_new'])
  vi.setSystemTime(Date.parse('2033-03-21T12:00:00.001Z'))
  expect(await left()).toEqual([])
})
