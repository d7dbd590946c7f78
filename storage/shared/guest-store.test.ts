import { expect, test } from 'vitest'
import { z } from 'zod'
import { StoreError } from '../errors.ts'
import { Gate } from '../level/gate.ts'
import { type GuestOptions, GuestStore } from './guest-store.ts'
import { type Hosted, settled, withHost } from './host-parts.ts'
import type { PartAsk, StoreNews } from './messages.ts'
import { Counter, Entry, next, rowOptions } from './threads-parts.ts'

interface Guested extends Hosted {
  readonly guest: GuestStore
  /** What the thread asked. */
  readonly asked: PartAsk[]
  /** Errors that no caller waited for. */
  readonly failed: unknown[]
}

/** Runs a test with a thread that has not the store, and whose asks may be refused. */
async function withGuest(
  run: (guested: Guested) => Promise<void>,
  {
    refuse = () => undefined,
    ...options
  }: Partial<GuestOptions> & { refuse?: (ask: PartAsk) => unknown } = {},
): Promise<void> {
  let guest: GuestStore | undefined
  await withHost(
    async (hosted) => {
      const asked: PartAsk[] = []
      const failed: unknown[] = []
      const send = async (ask: PartAsk): Promise<unknown> => {
        asked.push(ask)
        const refusal = refuse(ask)
        if (refusal) throw refusal
        return hosted.host.answer(ask)
      }
      guest = new GuestStore({ send, failed: (error) => failed.push(error), ...options })
      await run({ ...hosted, guest, asked, failed })
    },
    (news: StoreNews) => guest!.hear(news),
  )
}

const callsOf = (asked: readonly PartAsk[]): string[] =>
  asked.flatMap((ask) => ('call' in ask ? [ask.call.method] : []))

test('all kinds of parts are those of the store, in their namespaces', () =>
  withGuest(async ({ guest, engine }) => {
    const store = guest.at([]).namespace('a').namespace('b')
    await store.collection('rows', { schema: Counter }).put('one', { n: 1 })
    await store.sequence('ledger', Entry).append(next)
    store.log('calls', rowOptions).append({ id: 'x', by: 'me' })
    const counters = await store.counters('use')
    counters.add('c', 1)
    await store.bodies('files').write(
      'one',
      (async function* () {
        yield Buffer.from('bytes')
      })(),
    )
    await store.flush()
    const paths = (await engine.contents('')).map(({ kind, path }) => `${kind} ${path}`)
    expect(paths).toEqual([
      'collection a/b/bodies/files/heads',
      'collection a/b/bodies/files/loose',
      'collection a/b/bodies/files/parts',
      'collection a/b/rows',
      'log a/b/calls',
      'sequence a/b/ledger',
      'counters a/b/use',
    ])
  }))

test('names that cannot be are refused', () =>
  withGuest(async ({ guest }) => {
    const store = guest.at([])
    const invalid = expect.objectContaining({ code: 'NAME_INVALID' })
    expect(() => store.namespace('A')).toThrow(invalid)
    expect(() => store.bodies('A')).toThrow(invalid)
    expect(() => store.collection('A', { schema: Counter })).toThrow(invalid)
    expect(() => store.log('A', rowOptions)).toThrow(invalid)
    expect(() => store.sequence('A', Entry)).toThrow(invalid)
    await expect(store.counters('A')).rejects.toThrow(invalid)
  }))

test('where there are no logs, the reason is told', () =>
  withGuest(
    async ({ guest }) => {
      expect(() => guest.at([]).log('calls', rowOptions)).toThrow('no logs here')
    },
    { withoutLogs: () => new Error('no logs here') },
  ))

test('handles of one name are one part, with the options that came last', () =>
  withGuest(async ({ guest, asked }) => {
    const store = guest.at([])
    const rows = store.collection('rows', { schema: Counter })
    await rows.put('one', { n: 1 })
    const indexed = store.collection('rows', { schema: Counter, version: 2, indexes: { n: ({ n }) => n } })
    expect(indexed).toBe(rows)
    expect((await rows.list({ index: 'n', equals: 1 })).total).toBe(1)
    expect(() => store.sequence('rows', Entry)).not.toThrow()
    const ledger = store.sequence('ledger', Entry)
    expect(store.sequence('ledger', z.never())).toBe(ledger)
    await expect(ledger.append(next as never)).rejects.toMatchObject({ code: 'ROW_INVALID' })
    const log = store.log('calls', rowOptions)
    log.append({ id: '1', by: 'me' })
    store.log('calls', { ...rowOptions, fields: { other: ({ by }) => `${by}!` } })
    expect((await log.list({ where: { other: 'me!' } })).total).toBe(1)
    expect(await store.counters('use')).toBe(await store.counters('use'))
    const opened = asked.flatMap((ask) => ('open' in ask ? [`${ask.open.part} ${ask.open.kind}`] : []))
    expect(opened).toEqual([
      '1 collection',
      '1 collection',
      '2 sequence',
      '3 sequence',
      '4 log',
      '4 log',
      '5 counters',
    ])
  }))

test('counters that could not be loaded are loaded when they are asked for again', () => {
  let isRefused = true
  return withGuest(
    async ({ guest }) => {
      const store = guest.at([])
      await expect(store.counters('use')).rejects.toThrow('not now')
      isRefused = false
      expect((await store.counters('use')).get('x')).toBe(0)
    },
    { refuse: (ask) => isRefused && 'call' in ask && new Error('not now') },
  )
})

test('what waits below a path crosses when it is wanted, and nothing beside it', () =>
  withGuest(
    async ({ guest, asked, engine }) => {
      const stores = [[], ['a'], ['a', 'b'], ['ab']].map((path) => guest.at(path))
      const counters = await Promise.all(stores.map((store) => store.counters('use')))
      const add = (): void => {
        for (const one of counters) one.add('x', 1)
      }
      /** Which of them have crossed. */
      const crossed = async (): Promise<number[]> => {
        const stored = [[], ['a'], ['a', 'b'], ['ab']].map((path) =>
          path.reduce((store, name) => store.namespace(name), engine as ReturnType<GuestStore['at']>),
        )
        return Promise.all(stored.map(async (store) => (await store.counters('use')).get('x')))
      }
      add()
      await guest.hear({ wanted: 'a' })
      expect(await crossed()).toEqual([0, 1, 1, 0])
      await guest.hear({ wanted: 'ab/use' })
      expect(await crossed()).toEqual([0, 1, 1, 1])
      await guest.at([]).flush()
      expect(await crossed()).toEqual([1, 1, 1, 1])
      add()
      await guest.at(['a', 'b']).flush()
      expect(await crossed()).toEqual([1, 1, 2, 1])
      expect(asked.at(-1)).toEqual({ flush: ['a', 'b'] })
      const ledger = guest.at(['a']).sequence('ledger', Entry)
      ledger.queue(next)
      const log = guest.at(['a']).log('calls', rowOptions)
      log.append({ id: '1', by: 'me' })
      await guest.hear({ wanted: 'a' })
      expect(callsOf(asked).slice(-3)).toEqual(expect.arrayContaining(['append']))
      expect(log.status().depth).toBe(0)
    },
    { crossMs: 60_000 },
  ))

test('rows that the store refuses for now wait without a word, and any other failure is told', () => {
  let refusal: Error = new StoreError('STORE_FAILED', 'The disk is full.')
  return withGuest(
    async ({ guest, failed }) => {
      const log = guest.at([]).log('calls', rowOptions)
      log.append({ id: '1', by: 'me' })
      await guest.hear({ wanted: '' })
      expect([failed, log.status().depth]).toEqual([[], 1])
      refusal = new Error('out of order')
      await guest.hear({ wanted: '' })
      expect(failed).toEqual([refusal])
    },
    { refuse: (ask) => 'call' in ask && refusal },
  )
})

test('what is erased is closed, and nothing beside it', () =>
  withGuest(async ({ guest }) => {
    const rows = guest.at(['gone']).collection('rows', { schema: Counter })
    const kept = guest.at(['gone-not']).collection('rows', { schema: Counter })
    const counters = await guest.at(['gone']).counters('use')
    await guest.hear({ erased: 'gone/' })
    await expect(rows.get('one')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(() => counters.add('x', 1)).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
    await kept.put('one', { n: 1 })
    const later = guest.at(['gone']).collection('rows', { schema: Counter })
    expect(later).not.toBe(rows)
    expect(await later.get('one')).toBeUndefined()
  }))

test('news of a part reach it alone', () =>
  withGuest(async ({ guest, engine }) => {
    const store = guest.at([])
    const heard: string[] = []
    store.collection('one', { schema: Counter }).watch(({ id }) => heard.push(`one ${id}`))
    store.collection('two', { schema: Counter }).watch(({ id }) => heard.push(`two ${id}`))
    const counters = await store.counters('use')
    await settled()
    await engine.collection('two', { schema: Counter }).put('a', { n: 1 })
    await expect.poll(() => heard).toEqual(['two a'])
    expect(await guest.hear({ part: 3, counted: [['add', 'x', 2]] })).toBeUndefined()
    expect(counters.get('x')).toBe(2)
    const change = { id: 'b', row: { n: 1 } }
    expect(await guest.hear({ part: 3, changed: change })).toBeUndefined()
    expect(await guest.hear({ part: 9, changed: change })).toBeUndefined()
    expect(heard).toEqual(['two a'])
  }))

test('without a time to wait what is counted crosses in this turn', () =>
  withGuest(async ({ guest, asked }) => {
    const counters = await guest.at([]).counters('use')
    counters.add('x', 1)
    await settled()
    expect(callsOf(asked)).toEqual(['load', 'change'])
  }))

test('problems need no one who is told of them', () =>
  withGuest(async ({ guest }) => {
    const log = guest.at([]).log('calls', rowOptions)
    log.append({ id: '', by: 'me' })
    await guest.hear({ wanted: '' })
    expect(log.status().dropped).toBe(1)
  }))

test('a transaction and a flush are refused when the thread is closed', async () => {
  const gate = new Gate()
  await withGuest(
    async ({ guest }) => {
      const store = guest.at([])
      expect(await store.transaction(() => 7)).toBe(7)
      const rows = store.collection('rows', { schema: Counter })
      await gate.close()
      const closed = { code: 'STORE_CLOSED' }
      await expect(store.transaction(() => 7)).rejects.toMatchObject(closed)
      await expect(store.flush()).rejects.toMatchObject(closed)
      await expect(rows.get('one')).rejects.toMatchObject(closed)
    },
    { gate },
  )
})

test('what is wrong with a part, its first use tells', () =>
  withGuest(
    async ({ guest, failed }) => {
      const rows = guest.at([]).collection('rows', { schema: Counter })
      await settled()
      await expect(rows.get('one')).rejects.toMatchObject({ code: 'QUERY_INVALID' })
      expect(failed).toEqual([])
    },
    { refuse: (ask) => 'open' in ask && new Error('not here') },
  ))
