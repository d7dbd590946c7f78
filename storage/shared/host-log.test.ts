import { expect, test } from 'vitest'
import { withHost } from './host-parts.ts'
import type { Batch, StoreNews } from './messages.ts'

const names = { fields: ['by'], numbers: ['ms'] }
const calls = { part: 1, kind: 'log', path: ['deep'], name: 'calls', names } as const
const idOf = (n: number): string => `c${String(n).padStart(3, '0')}`

/** A row as it crosses, of a thread that knows these names. */
const rowOf = (n: number, values: unknown[] = [`by${n % 2}`], numbers = [n]) => ({
  json: JSON.stringify({ n }),
  body: n % 2 ? `body ${n}` : undefined,
  facts: { id: idOf(n), time: n, values, numbers },
  sums: [[['all'], { calls: 1 }]],
})

/** A thread with these functions: rows with an even number may be erased. */
function hear(news: StoreNews): unknown {
  const numberOf = (row: unknown): number => (row as { n: number }).n
  if ('index' in news) return { ...names, facts: news.index.map((row) => rowOf(numberOf(row)).facts) }
  return 'erasing' in news && news.rows.map((row) => numberOf(row) % 2 === 0)
}

const rowsOf = (length: number) => Array.from({ length }, (_, n) => rowOf(n))

test('rows of a thread are found by what it says of them', () =>
  withHost(async ({ open, call }) => {
    await open(calls)
    await call(1, 'append', rowsOf(6), names)
    await call(1, 'flush')
    expect(await call(1, 'list', { where: { by: 'by1' } })).toMatchObject({
      items: [{ n: 5 }, { n: 3 }, { n: 1 }],
    })
    expect(await call(1, 'list', { atLeast: { ms: 4 }, reverse: false })).toMatchObject({
      items: [{ n: 4 }, { n: 5 }],
      total: 2,
    })
    expect(await call(1, 'get', idOf(3))).toEqual({ n: 3 })
    expect([await call(1, 'body', idOf(3)), await call(1, 'body', idOf(2))]).toEqual(['body 3', undefined])
    const after = await call(1, 'placeOf', idOf(2))
    expect(await call(1, 'list', { after })).toMatchObject({ items: [{ n: 1 }, { n: 0 }] })
    expect(await call(1, 'totals', '', '~')).toEqual({ cells: [['all', { calls: 6 }]] })
    expect(await call(1, 'forgetTotals', '', '~')).toBe(1)
    expect(await call(1, 'pruneBodies', 2)).toBe(1)
    expect(await call(1, 'prune', 2)).toBe(2)
    await call(1, 'prepare')
    expect(await call(1, 'list', { limit: 0 })).toMatchObject({ total: 4 })
  }, hear))

test('a listing of many rows is read on, batch by batch, or ended', () =>
  withHost(async ({ open, call }) => {
    await open(calls)
    await call(1, 'append', rowsOf(101), names)
    const first = (await call(1, 'scan', { reverse: false })) as Batch
    expect([first.items[0], first.isOver]).toEqual([{ n: 0 }, false])
    expect(await call(1, 'more', first.cursor)).toMatchObject({ items: [{ n: 100 }], isOver: true })
    const second = (await call(1, 'scan', {})) as Batch
    await call(1, 'done', second.cursor)
    expect(await call(1, 'more', second.cursor)).toMatchObject({ items: [], isOver: true })
  }, hear))

test('what reads rows asks the other threads for theirs first', () =>
  withHost(async ({ open, call, peers, news }) => {
    await open(calls)
    const theirs: StoreNews[] = []
    peers.add(async (told) => {
      theirs.push(told)
      await call(1, 'append', [rowOf(theirs.length)], names)
    })
    const wanting = [
      () => call(1, 'list', {}),
      () => call(1, 'get', idOf(2)),
      () => call(1, 'body', idOf(3)),
      () => call(1, 'placeOf', idOf(4)),
      () => call(1, 'scan', {}),
      () => call(1, 'totals', '', '~'),
      () => call(1, 'forgetTotals', '~', '~~'),
      () => call(1, 'prune', 0),
      () => call(1, 'pruneBodies', 0),
      () => call(1, 'erase', 1),
    ]
    const found = []
    for (const want of wanting) found.push(await want())
    expect(found.slice(0, 4)).toEqual([
      expect.objectContaining({ total: 1 }),
      { n: 2 },
      'body 3',
      expect.any(String),
    ])
    expect(found[4]).toMatchObject({ isOver: true, items: expect.objectContaining({ length: 5 }) })
    expect(theirs).toEqual(wanting.map(() => ({ wanted: 'deep/calls' })))
    expect(news.filter((one) => 'wanted' in one)).toEqual([])
  }, hear))

test('the thread says which rows are erased', () =>
  withHost(async ({ open, call, news }) => {
    await open(calls)
    await call(1, 'append', rowsOf(4), names)
    expect(await call(1, 'erase', 7)).toBe(2)
    const asked = news.filter((one) => 'erasing' in one)
    expect(asked).toEqual([{ part: 1, erasing: 7, rows: [0, 1, 2, 3].map((n) => ({ n })) }])
    expect(await call(1, 'list', {})).toMatchObject({ items: [{ n: 3 }, { n: 1 }] })
  }, hear))

/** What a thread says of rows that are indexed anew: nothing of the third. */
const indexed = (news: StoreNews): unknown =>
  'index' in news && {
    fields: ['other', 'parity'],
    numbers: ['half', 'double'],
    facts: news.index.map((row) => {
      const { n } = row as { n: number }
      return n === 3
        ? undefined
        : { id: idOf(n), time: n, values: ['x', n % 2 ? 'odd' : 'even'], numbers: [n / 2, n * 2] }
    }),
  }

test('rows on the disk are indexed anew by what the thread says of them, under the names that are wanted', () =>
  withHost(async ({ open, call, problems }) => {
    await open(calls)
    await call(1, 'append', rowsOf(6), names)
    await call(1, 'flush')
    await open({ ...calls, names: { fields: ['parity', 'unknown'], numbers: ['double'] } })
    expect(await call(1, 'list', { where: { parity: 'odd' } })).toMatchObject({ items: [{ n: 5 }, { n: 1 }] })
    expect(await call(1, 'list', { atLeast: { double: 8 } })).toMatchObject({ items: [{ n: 5 }, { n: 4 }] })
    expect(await call(1, 'list', { where: { unknown: 'x' } })).toMatchObject({ total: 0 })
    expect(problems).toMatchObject([{ code: 'ROW_UNREADABLE', part: 'deep/calls', id: '#3' }])
  }, indexed))

test('a log that is prepared asks the thread for what it has to say of rows on the disk', () =>
  withHost(async ({ open, call, news }) => {
    await open(calls)
    await call(1, 'append', rowsOf(20), names)
    await open({ ...calls, names: { fields: ['parity'], numbers: [] } })
    await call(1, 'list', { limit: 1 })
    const asked = () => news.flatMap((one) => ('index' in one ? [one.index.length] : []))
    expect(asked()).not.toContain(16)
    await call(1, 'prepare')
    expect(asked()).toContain(16)
  }, indexed))

test('rows of a thread that knows other names are indexed by those they have', () =>
  withHost(async ({ open, call }) => {
    await open(calls)
    const others = { fields: ['else', 'by'], numbers: [] }
    await call(1, 'append', [rowOf(1, ['x', 'me'], [])], others)
    expect(await call(1, 'list', { where: { by: 'me' } })).toMatchObject({ items: [{ n: 1 }] })
    expect(await call(1, 'list', { where: { by: 'x' } })).toMatchObject({ total: 0 })
    expect(await call(1, 'list', { atLeast: { ms: 0 } })).toMatchObject({ total: 0 })
  }, hear))

test('a log without names has rows all the same', () =>
  withHost(async ({ open, call }) => {
    const { names: _, ...plain } = calls
    await open(plain)
    await call(1, 'append', [rowOf(1)], names)
    expect(await call(1, 'list', {})).toMatchObject({ items: [{ n: 1 }] })
    await expect(call(1, 'list', { where: { by: 'by1' } })).rejects.toMatchObject({ code: 'INDEX_UNKNOWN' })
  }, hear))
