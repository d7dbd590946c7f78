import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Level } from 'level'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import type { StoreProblem } from '../index.ts'
import { openLevel } from '../level.ts'
import { accountOptions, type Event, eventOptions, Link, linkAfter } from './crash-parts.ts'
import { openKey } from './parts.ts'

const logFormat = { chunkRows: 4, blockRows: 16 }
const rows = 100
let home: string
/** A closed store. */
let source: string
/** Keys of what it keeps twice. */
let derived: string[]

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'consistency-'))
  source = join(home, 'source')
  const engine = await openLevel(source, { logFormat })
  const accounts = engine.collection('accounts', accountOptions)
  const chain = engine.sequence('chain', Link)
  const events = engine.log<Event>('events', eventOptions)
  for (let n = 0; n < rows; n++) events.append({ id: `e${n}`, at: n, kind: `k${n % 3}` })
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => accounts.put(`id${n}`, { owner: `o${n % 4}`, balance: n })),
  )
  for (let n = 0; n < 5; n++) await chain.append(linkAfter)
  await engine.close()
  const database = new Level<string, string>(source)
  const keys = await database.keys().all()
  derived = keys.filter((key) => /^(?:c\/\w+![nim]|s\/\w+!n|l\/\w+![mhitpn])/.test(key))
  await database.close()
})

afterAll(() => rm(home, { recursive: true }))

/** Opens a copy of the store whose keys were changed, left open or closed, and gives all that can be asked of it. */
async function lookedAt(changes: ReadonlyMap<string, string | undefined>, wasClosed = false) {
  const folder = join(home, 'changed')
  await rm(folder, { recursive: true, force: true })
  await cp(source, folder, { recursive: true })
  const database = new Level<string, string>(folder)
  for (const [key, value] of changes)
    await (value === undefined ? database.del(key) : database.put(key, value))
  if (!wasClosed) await database.put(openKey, '')
  await database.close()
  const problems: StoreProblem[] = []
  const engine = await openLevel(folder, { logFormat, report: (problem) => problems.push(problem) })
  const accounts = engine.collection('accounts', accountOptions)
  const events = engine.log<Event>('events', eventOptions)
  await events.prepare()
  const owners = ['o0', 'o1', 'o2', 'o3', 'stray']
  const answers = {
    accounts: await accounts.list(),
    byOwner: await accounts.list({ index: 'owner' }),
    ofOwners: await Promise.all(owners.map((equals) => accounts.list({ index: 'owner', equals }))),
    last: await engine.sequence('chain', Link).last(),
    next: await engine.sequence('chain', Link).append(linkAfter),
    events: await events.list(),
    ofKind: await Promise.all(['k0', 'k1', 'k2'].map((kind) => events.list({ where: { kind } }))),
    late: await events.list({ atLeast: { at: 50 }, from: 20 }),
    one: await events.get('e7'),
    totals: await events.totals('', '~'),
  }
  await engine.close()
  return { answers, problems }
}

test('after an unclean end, what is kept twice is put right by the rows, and told', async () => {
  const sound = await lookedAt(new Map())
  expect(sound.problems).toEqual([])
  expect(sound.answers.last).toBe(5)
  expect(sound.answers.events.total).toBe(rows)
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...derived), { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (gone, isStray) => {
        const changes = new Map<string, string | undefined>(gone.map((key) => [key, undefined]))
        if (isStray) {
          changes.set('c/accounts!iowner!sstray\0id1', '')
          changes.set('c/accounts!nowner!sstray', '7')
          changes.set('c/accounts!n', '70')
          changes.set('s/chain!n', '12')
        }
        const { answers, problems } = await lookedAt(changes)
        expect(answers).toEqual(sound.answers)
        expect(new Set(problems.map(({ code }) => code))).toEqual(new Set(['STORE_DAMAGED']))
        const parts = new Set([...changes.keys()].map((key) => /\/(\w+)!/.exec(key)![1]))
        expect(new Set(problems.map(({ part }) => part))).toEqual(parts)
      },
    ),
    runs(40),
  )
}, 120_000)

test('entries of a ledger that are gone are told, and its end is where they end', async () => {
  const entries = ['000000000005', '000000000002'].map((seq) => [`s/chain!e${seq}`, undefined] as const)
  const { answers, problems } = await lookedAt(new Map(entries))
  expect(answers.last).toBe(4)
  expect(answers.next).toEqual({ seq: 5, after: 4 })
  expect(problems.map(({ part, message }) => [part, message])).toEqual([
    ['chain', expect.stringContaining('1 of its entries are missing. It cannot be put right')],
    ['chain', expect.stringContaining('the entries behind it, up to 5, are lost')],
  ])
})

test('after a clean end nothing is compared', async () => {
  const { answers, problems } = await lookedAt(new Map([['c/accounts!n', '70']]), true)
  expect(answers.accounts.total).toBe(70)
  expect(problems).toEqual([])
})

test('a row that cannot be read keeps its place in indexes and counts', async () => {
  const { answers, problems } = await lookedAt(new Map([['c/accounts!r!id3', 'garbage']]))
  expect(answers.accounts).toMatchObject({ total: 20, unreadable: 1 })
  expect(answers.ofOwners[3]).toMatchObject({ total: 5, unreadable: 1 })
  expect(problems.map(({ code }) => code)).toEqual(['ROW_UNREADABLE'])
})
