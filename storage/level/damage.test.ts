import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { collect } from '../conformance/harness.ts'
import type { Engine, LogOptions, StoreProblem } from '../index.ts'
import { checkAgreement, openLevel } from '../level.ts'
import { decodeLines } from './chunk.ts'
import { accountOptions, type Event, eventOptions, Link, linkAfter } from './crash-parts.ts'
import { asDamage, damaged, isCorruption, isLockRefusal, locked } from './damage.ts'
import { LogKeys } from './log-keys.ts'
import { CollectionKeys } from './row-writer.ts'
import { versionKey } from './version.ts'

let folder: string
let engine: Engine
let problems: StoreProblem[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'damage-'))
  problems = []
  await open()
})

afterEach(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

async function open(): Promise<void> {
  engine = await openLevel(folder, { report: (problem) => problems.push(problem) })
}

/** Closes the engine, changes its keys directly, and opens it again. */
async function change(edit: (database: Level<string, string>) => Promise<void>): Promise<void> {
  await engine.close()
  const database = new Level<string, string>(folder)
  await edit(database)
  await database.close()
  await open()
}

const accountKeys = new CollectionKeys('accounts')
const account = (n: number) => ({ owner: `o${n % 2}`, balance: n })
const damages = {
  'a row that is not JSON': '[1,{"owner":["so0"]}]\n{"owner":',
  'a row without its first line': '{"owner":"o0"}',
  'an empty row': '',
  'a row of bytes': '\u0007\u0000 \u{1F600}\n\n',
}

test.for(Object.entries(damages))(
  '%s is left out of listings, counted, and can be replaced',
  async ([, text]) => {
    const before = engine.collection('accounts', accountOptions)
    for (let n = 0; n < 6; n++) await before.put(`id${n}`, account(n))
    await change((database) => database.put(accountKeys.row('id2'), text))

    const accounts = engine.collection('accounts', accountOptions)
    const readable = [0, 1, 3, 4, 5].map(account)
    expect(await accounts.list()).toEqual({ items: readable, total: 6, unreadable: 1 })
    expect(await accounts.list({ index: 'owner', equals: 'o0' })).toEqual({
      items: [account(0), account(4)],
      total: 3,
      unreadable: 1,
    })
    expect((await collect(accounts.scan())).map(([, row]) => row)).toEqual(readable)
    expect(problems).toEqual([
      {
        code: 'ROW_UNREADABLE',
        part: 'accounts',
        id: 'id2',
        message: expect.stringContaining('Replace or delete'),
      },
    ])
    await expect(accounts.get('id2')).rejects.toMatchObject({ code: 'ROW_UNREADABLE' })
    await expect(accounts.update('id2', () => account(2))).rejects.toMatchObject({ code: 'ROW_UNREADABLE' })
    expect(await accounts.create('id2', account(2))).toBe(false)

    await accounts.put('id2', account(7))
    expect((await accounts.list({ index: 'owner', equals: 'o0' })).total).toBe(2)
    expect((await accounts.list({ index: 'owner', equals: 'o1' })).total).toBe(4)
    expect(await accounts.list()).toEqual({ items: [0, 1, 7, 3, 4, 5].map(account), total: 6 })
  },
)

test('a damaged row can be deleted, and leaves nothing behind', async () => {
  await engine.collection('accounts', accountOptions).put('id', account(1))
  await change((database) => database.put(accountKeys.row('id'), 'damaged'))
  expect(await engine.collection('accounts', accountOptions).delete('id')).toBe(true)
  await engine.close()
  const database = new Level<string, string>(folder)
  expect(await database.keys().all()).toEqual([versionKey, accountKeys.meta])
  await database.close()
  await open()
})

test('a damaged line of a log is left out, and the rest is found', async () => {
  const log = engine.log<Event>('events', eventOptions)
  for (let n = 0; n < 2100; n++) log.append({ id: `id${n}`, at: n, kind: 'k' })
  await log.flush()
  const keys = new LogKeys('events')
  await change(async (database) => {
    for (const chunk of [3, 65]) {
      const stored = await database.get<string, Uint8Array>(keys.rows(chunk), { valueEncoding: 'view' })
      const text = decodeLines(stored).with(1, '{"id":').join('\n')
      await database.put(keys.rows(chunk), text)
    }
  })
  const again = engine.log<Event>('events', eventOptions)
  const { items, unreadable } = await again.list({ where: { kind: 'k' }, reverse: false })
  expect(items).toHaveLength(2098)
  expect(unreadable).toBe(1)
  expect(await again.get('id97')).toBeUndefined()
  expect(await again.get('id98')).toEqual({ id: 'id98', at: 98, kind: 'k' })
  expect(problems.map(({ id }) => id).sort()).toEqual(['#2081', '#97'])
  expect(await again.erase(({ at }) => at === 100 || at === 2090)).toBe(2)
  expect(await again.list({ where: { kind: 'k' }, limit: 1 })).toMatchObject({
    total: 2096,
    items: [{ id: 'id2099' }],
  })
})

test('a log whose newest chunks are lost, as a power cut may do, still opens and grows', async () => {
  const log = engine.log<Event>('events', eventOptions)
  for (let n = 0; n < 100; n++) log.append({ id: `id${n}`, at: n, kind: 'k' }, () => `body ${n}`)
  await log.flush()
  const keys = new LogKeys('events')
  await change(async (database) => {
    await database.batch([keys.rows(2), keys.rows(3), keys.bodies(3)].map((key) => ({ type: 'del', key })))
  })
  const again = engine.log<Event>('events', eventOptions)
  expect((await again.list({ where: { kind: 'k' } })).total).toBe(64)
  again.append({ id: 'new', at: 200, kind: 'k' }, () => 'new body')
  expect((await again.list()).items.slice(0, 2)).toMatchObject([{ id: 'new' }, { id: 'id63' }])
  expect(await again.body('new')).toBe('new body')
})

const notes = {
  'no JSON': '{"next":',
  nothing: 'null',
  'a list': '[1]',
  'the wrong numbers': '{"chunkRows":0,"blockRows":-1,"next":0.5,"block":"0","version":"1"}',
  'blocks that are no whole chunks': '{"chunkRows":3,"blockRows":8,"next":9}',
}

test.for(Object.entries(notes))(
  'a part whose note is %s says which cell is damaged, and is whole again after a repair',
  async ([, text]) => {
    const [many, few, gone] = ['many', 'few', 'gone'].map((name) => engine.log<Event>(name, eventOptions))
    for (let n = 0; n < 2100; n++) many!.append({ id: `id${n}`, at: n, kind: `k${n % 2}` })
    for (const log of [few!, gone!]) log.append({ id: 'id', at: 1, kind: 'k1' })
    await gone!.prune(2)
    await engine.collection('accounts', accountOptions).put('id', account(1))
    await engine.collection('empty', accountOptions).count()
    await engine.sequence('chain', Link).append(linkAfter)
    const damaged = new Map([
      ['many', new LogKeys('many').header(0)],
      ['few', new LogKeys('few').meta],
      ['gone', new LogKeys('gone').meta],
      ['accounts', accountKeys.meta],
      ['empty', new CollectionKeys('empty').meta],
      ['chain', 's/chain!n'],
    ])
    await change((database) =>
      database.batch([...damaged.values()].map((key) => ({ type: 'put', key, value: text }))),
    )
    const totals: Readonly<Record<string, number>> = {
      many: 1050,
      few: 1,
      gone: 0,
      accounts: 1,
      empty: 0,
      chain: 1,
    }
    const totalOf = async (part: string): Promise<number> => {
      if (part === 'chain') return engine.sequence('chain', Link).last()
      const list = ['accounts', 'empty'].includes(part)
        ? engine.collection(part, accountOptions).list({ index: 'owner', equals: 'o1' })
        : engine.log<Event>(part, eventOptions).list({ where: { kind: 'k1' }, limit: 0 })
      return (await list).total
    }
    for (const [part, cell] of damaged)
      await expect(totalOf(part)).rejects.toMatchObject({
        code: 'STORE_DAMAGED',
        message: expect.stringMatching(`${cell}.*doctor --repair`),
      })
    const appended = engine.sequence('chain', Link).append(linkAfter)
    await expect(appended).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
    await engine.close()
    const found = await checkAgreement(folder, { repair: true })
    for (const part of damaged.keys())
      expect(found).toContainEqual({ part, found: expect.any(String), canBeMended: true })
    await open()
    await engine.log('many', eventOptions).prepare()
    for (const [part, total] of Object.entries(totals)) expect(await totalOf(part)).toBe(total)
    await engine.close()
    expect(await checkAgreement(folder, { repair: false })).toEqual([])
    await open()
  },
)

test('a pruned log leaves only its totals on disk', async () => {
  const log = engine.log<Event>('events', eventOptions)
  const large = 'x'.repeat(100_000)
  for (let n = 0; n < 5000; n++)
    log.append({ id: `id${n}`, at: n, kind: 'k' }, () => (n % 500 ? 'small' : large))
  expect(await log.body('id500')).toBe(large)
  expect(await log.prune(4096)).toBe(4096)
  expect((await log.list({ limit: 1 })).total).toBe(904)
  expect(await log.pruneBodies(5000)).toBe(904)
  expect(await log.prune(5000)).toBe(904)
  await engine.close()
  const database = new Level<string, string>(folder)
  const left = await database.keys().all()
  await database.close()
  await open()
  const rowChunks = left.filter((key) => key.startsWith(new LogKeys('events').rows(0).slice(0, -12)))
  expect(rowChunks.length).toBeLessThanOrEqual(Math.ceil(904 / 32))
  expect(left.filter((key) => key.startsWith('l/') && !rowChunks.includes(key))).toEqual([
    'l/events!c!k',
    'l/events!m',
  ])
})

test('a second process is told that the folder is in use', async () => {
  await expect(openLevel(folder)).rejects.toMatchObject({
    code: 'STORE_LOCKED',
    message: expect.stringContaining(folder),
  })
})

test.for([
  '{"calls":1e300}',
  '{"calls":0.5}',
  '{"calls":9007199254740993}',
  '{"calls":null}',
  '[1]',
  '{"calls":',
])('a cell of %s is left out of the totals, counted, and counts anew', async (text) => {
  const options: LogOptions<Event> = {
    ...eventOptions,
    rollup: ({ kind }, add) => add([kind], { calls: 1, more: 2 }),
  }
  const before = engine.log('events', options)
  for (const kind of ['j', 'k', 'l']) before.append({ id: kind, at: 1, kind })
  await before.flush()
  await change((database) => database.put(new LogKeys('events').cell('k'), text))

  const log = engine.log('events', options)
  const sums = { calls: 1, more: 2 }
  const others = [
    ['j', sums],
    ['l', sums],
  ]
  expect(await log.totals('', '~')).toEqual({ cells: others, unreadable: 1 })
  log.append({ id: 'again', at: 2, kind: 'k' })
  expect((await log.totals('k', 'l')).cells).toEqual([['k', sums]])
})

const ofLevel = (code: string, message: string): Error => Object.assign(new Error(message), { code })

const corrupt: Readonly<Record<string, unknown>> = {
  'of a corruption': ofLevel('LEVEL_CORRUPTION', 'Corruption: bad block'),
  'of a file that is gone': ofLevel('LEVEL_IO_ERROR', 'IO error: /a/000005.ldb: No such file or directory'),
  'of a file that is cut short': ofLevel('LEVEL_IO_ERROR', 'IO error: /a/000005.ldb: Invalid argument'),
  'that a corruption caused': new Error('not open', { cause: ofLevel('LEVEL_CORRUPTION', 'bad') }),
}

test.for(Object.entries(corrupt))('an error %s is told as damage, with what to do', ([, error]) => {
  expect(isCorruption(error)).toBe(true)
  expect(asDamage(error)).toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringMatching(/^The store has damaged files .*doctor --repair/),
    cause: error,
  })
})

const others: Readonly<Record<string, unknown>> = {
  'of a full disk': ofLevel('LEVEL_IO_ERROR', 'IO error: /a/000004.log: No space left on device'),
  'that only names a file that is gone': ofLevel('LEVEL_IO_ERROR', 'No such file or directory: /a/b'),
  'of the system': ofLevel('ENOENT', 'ENOENT: No such file or directory'),
  'without a code': new Error('Corruption'),
  'that is no error': { code: 'LEVEL_CORRUPTION', message: 'bad' },
  'that is nothing': undefined,
}

test.for(Object.entries(others))('an error %s is told as it is', ([, error]) => {
  expect(isCorruption(error)).toBe(false)
  expect(asDamage(error)).toBe(error)
})

test('a refusal for the lock of a database is told from other errors, and from none', () => {
  const refused = (code: string) => new Error('not open', { cause: ofLevel(code, 'IO error: lock') })
  const all = [refused('LEVEL_LOCKED'), refused('LEVEL_IO_ERROR'), new Error('not open'), undefined]
  expect(all.map(isLockRefusal)).toEqual([true, false, false, false])
})

test('an error of damage or of a lock says what it is about', () => {
  const cause = new Error('Corruption: bad block')
  expect(damaged('The database in /a', cause)).toMatchObject({
    code: 'STORE_DAMAGED',
    message: expect.stringMatching(/^The database in \/a has damaged files \(Bad block\)/),
    cause,
  })
  expect(locked('/a', cause)).toMatchObject({ code: 'STORE_LOCKED', cause })
  expect(locked('/a').message).toContain('/a')
})
