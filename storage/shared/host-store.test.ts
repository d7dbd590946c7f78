import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { openShared, shareEngine } from '../shared.ts'
import { settled, withHost } from './host-parts.ts'
import { HostStore } from './host-store.ts'
import type { StoreNews } from './messages.ts'
import { Counter } from './threads-parts.ts'

const rows = { part: 1, kind: 'collection', path: [], name: 'rows' } as const
const ledger = { part: 2, kind: 'sequence', path: ['deep', 'er'], name: 'ledger' } as const
const use = { part: 3, kind: 'counters', path: [], name: 'use' } as const
const calls = { part: 4, kind: 'log', path: [], name: 'calls', names: { fields: [], numbers: [] } } as const

const rowOf = (n: number) => ({ row: { n }, values: {} })
const invalid = { code: 'QUERY_INVALID' }

test('a thread may ask for what a part offers, and for nothing else', () =>
  withHost(async ({ open, call, host }) => {
    for (const part of [rows, ledger, use, calls]) await open(part)
    await expect(call(1, 'close')).rejects.toMatchObject(invalid)
    await expect(call(1, 'constructor')).rejects.toMatchObject(invalid)
    await expect(call(1, 'nothing')).rejects.toMatchObject(invalid)
    await expect(call(9, 'get', 'one')).rejects.toMatchObject(invalid)
    const nothing = { rows: [], ends: [], writes: [], entries: [] }
    const read = { id: 'one', isKnown: false, row: undefined }
    for (const part of [2, 9]) {
      const transact = { ...nothing, rows: [{ ...read, part }] }
      await expect(host.answer({ transact })).rejects.toMatchObject(invalid)
    }
    const end = { part: 1, isKnown: false, end: { seq: 0, entry: undefined } }
    await expect(host.answer({ transact: { ...nothing, ends: [end] } })).rejects.toMatchObject(invalid)
    expect(await host.answer({ transact: nothing })).toBeUndefined()
  }))

test('parts lie where the thread says, and what waits there is written on request', () =>
  withHost(async ({ engine, open, call, host }) => {
    await open(ledger)
    await call(2, 'append', 1, ['first', 'second'])
    await open({ ...rows, path: ['deep'] })
    await call(1, 'put', 'one', rowOf(1))
    const paths = (await engine.contents('')).map(({ kind, path, entries }) => [kind, path, entries])
    expect(paths).toEqual([
      ['collection', 'deep/rows', 1],
      ['sequence', 'deep/er/ledger', 2],
    ])
    const theirs = engine.namespace('deep').sequence('other', z.string())
    theirs.queue(() => 'queued')
    await host.answer({ flush: ['deep'] })
    expect(theirs.status().depth).toBe(0)
  }))

test('a part that is opened again is the same part, with the options that came last', () =>
  withHost(async ({ engine, open, call }) => {
    await open(rows)
    await call(1, 'put', 'one', rowOf(1))
    await open({ ...rows, indexes: ['n'] })
    await call(1, 'put', 'two', { row: { n: 2 }, values: { n: 2 } })
    expect(await call(1, 'list', { index: 'n', equals: 2 })).toMatchObject({ items: [{ n: 2 }] })
    await open(use)
    await open(use)
    await call(3, 'change', [['add', 'x', 1]])
    expect((await engine.counters('use')).get('x')).toBe(1)
  }, older))

/** A thread that brings up older rows as they are, with no values. */
const older = (news: StoreNews): unknown =>
  'older' in news ? news.older.map(({ row }) => ({ row, values: {} })) : undefined

test('a part that is opened again is watched as before, until it is not watched any more', () =>
  withHost(async ({ engine, open, call, news }) => {
    const theirs = () => engine.collection('rows', { schema: Counter })
    await open(rows)
    await call(1, 'watch')
    await open(rows)
    await theirs().put('one', { n: 1 })
    expect(news).toHaveLength(1)
    await call(1, 'unwatch')
    await theirs().put('one', { n: 2 })
    expect(news).toHaveLength(1)
  }))

test('a thread that is gone is told no more, and its listings are closed', () =>
  withHost(async ({ engine, open, call, host, news }) => {
    for (const part of [rows, use]) await open(part)
    for (let n = 0; n < 101; n++) await call(1, 'put', `row${n}`, rowOf(n))
    await call(1, 'watch')
    await call(3, 'load')
    const { cursor } = (await call(1, 'scan', {})) as { cursor: number }
    host.clear()
    await settled()
    await engine.collection('rows', { schema: Counter }).put('late', { n: 1 })
    expect(news).toEqual([])
    await expect(call(1, 'more', cursor)).rejects.toMatchObject(invalid)
  }))

test('a thread without the store does not share its logs', () =>
  withHost(async ({ engine }) => {
    const { port1, port2 } = new MessageChannel()
    const served = shareEngine(engine).serve(port1)
    const far = openShared(port2)
    const host = new HostStore(
      () => far,
      async () => undefined,
    )
    await expect(host.answer({ open: calls })).rejects.toThrow(TypeError)
    await far.close()
    await served
  }))
