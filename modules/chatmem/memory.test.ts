import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { Memory } from './memory.ts'
import { turnsIn } from './rows.ts'

let folder: string
let store: Engine
let memory: Memory

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 })
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-memory-'))
  store = await openLevel(path.join(folder, 'db'))
  const none = (): never => {
    throw new Error('nothing is sealed here')
  }
  memory = new Memory({ id: 'chatmem', store, find: () => undefined, use: none, every: () => {} })
})

afterEach(async () => {
  vi.useRealTimers()
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

const hourMs = 3_600_000
const said = (n: number) => ({ user: `Question ${n}`, assistant: `Answer ${n}` })
const keeping = { user_id: 'usr_1', key_id: 'key_1', project: 'default', ttlHours: 1 }

function add(id: string, n: number, owner = 'usr_1') {
  vi.setSystemTime(Date.now() + 1)
  return memory.add({ id, name: id, owner }, said(n), { ...keeping, user_id: owner })
}

const recall = async (id: string) =>
  (await memory.recall(id))?.turns.map(({ user, assistant }) => ({ user, assistant }))

test('turns are recalled in their order', async () => {
  for (let n = 0; n < 12; n += 1) await add('mem_a', n)
  await add('mem_b', 99)
  expect(await recall('mem_a')).toEqual(Array.from({ length: 12 }, (_, n) => said(n)))
  expect(await recall('mem_c')).toBeUndefined()
})

test('a session is forgotten an hour after its last call, whether it was swept or not', async () => {
  await add('mem_a', 1)
  vi.setSystemTime(Date.now() + hourMs / 2)
  await add('mem_a', 2)
  vi.setSystemTime(Date.now() + hourMs / 2 + 1)
  expect(await recall('mem_a')).toHaveLength(2)
  vi.setSystemTime(Date.now() + hourMs)
  expect(await recall('mem_a')).toBeUndefined()
  await add('mem_a', 3)
  expect(await recall('mem_a')).toEqual([said(3)])
  vi.setSystemTime(Date.now() + hourMs)
  await memory.forgetting.sweep(Date.now())
  expect([await memory.countOf('usr_1'), await turnsIn(store).count()]).toEqual([0, 0])
})

test('of too many sessions of one owner the one used longest ago goes, and none of another owner', async () => {
  await add('mem_other', 1, 'usr_2')
  for (let n = 0; n < 100; n += 1) await add(`mem_${n}`, n)
  await add('mem_0', 100)
  await add('mem_last', 1)
  expect(await memory.countOf('usr_1')).toBe(100)
  expect(await recall('mem_1')).toBeUndefined()
  expect(await recall('mem_0')).toHaveLength(2)
  expect(await recall('mem_other')).toHaveLength(1)
})

test('a summary takes the place of turns, once', async () => {
  for (let n = 0; n < 4; n += 1) await add('mem_a', n)
  const { turns } = (await memory.recall('mem_a'))!
  await memory.fold('mem_a', turns.slice(0, 2), 'Two were asked.')
  await memory.fold('mem_a', turns.slice(1, 3), 'Somebody else was faster.')
  const found = (await memory.recall('mem_a'))!
  expect([found.summary, found.turns.map(({ user }) => user)]).toEqual([
    'Two were asked.',
    ['Question 2', 'Question 3'],
  ])
  const row = (await memory.sessions.get('mem_a'))!
  const tokens = found.turns.reduce((sum, turn) => sum + turn.tokens, 0)
  expect(row).toMatchObject({ turns: 2, tokens })
})

test('forgetting leaves no turn, of one user or of all', async () => {
  await add('mem_a', 1)
  await add('mem_b', 2)
  await add('mem_c', 3, 'usr_2')
  expect(await memory.forgetting.forgetAll('usr_1')).toBe(2)
  expect([await turnsIn(store).count(), await recall('mem_c')]).toEqual([1, [said(3)]])
  expect(await memory.forgetting.forgetAll()).toBe(1)
  expect(await turnsIn(store).count()).toBe(0)
})
