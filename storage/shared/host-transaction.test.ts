import { expect, test } from 'vitest'
import { type Hosted, settled, withHost } from './host-parts.ts'
import type { CrossingTransaction, StoreNews } from './messages.ts'
import { Counter, Entry } from './threads-parts.ts'

const rows = { part: 1, kind: 'collection', path: [], name: 'rows' } as const
const ledger = { part: 2, kind: 'sequence', path: [], name: 'ledger' } as const
const nothing: CrossingTransaction = { rows: [], ends: [], writes: [], entries: [] }
const put = (id: string, n: number) => ({ part: 1, id, checked: { row: { n }, values: {} } })
const read = (id: string, row: unknown, isKnown = true) => ({ part: 1, id, isKnown, row })
const end = (seq: number, entry: unknown, isKnown = true) => ({ part: 2, isKnown, end: { seq, entry } })

async function opened({ open, host }: Hosted) {
  await open(rows)
  await open(ledger)
  return (transact: Partial<CrossingTransaction>) => host.answer({ transact: { ...nothing, ...transact } })
}

test('changes are made when all that was read still is so', () =>
  withHost(async (hosted) => {
    const transact = await opened(hosted)
    const first = { seq: 1, after: 0 }
    expect(
      await transact({
        rows: [read('one', undefined)],
        ends: [end(0, undefined)],
        writes: [put('one', 1), put('two', 2)],
        entries: [{ part: 2, entries: [first, { seq: 2, after: 1 }] }],
      }),
    ).toBeUndefined()
    const stored = hosted.engine.collection('rows', { schema: Counter })
    expect(await stored.list()).toMatchObject({ items: [{ n: 1 }, { n: 2 }] })
    const entries = hosted.engine.sequence('ledger', Entry)
    expect([await entries.last(), await entries.get(1)]).toEqual([2, first])
    const gone = { rows: [read('one', { n: 1 })], writes: [{ part: 1, id: 'one' }] }
    expect(await transact({ ...gone, ends: [end(2, { seq: 2, after: 1 })] })).toBeUndefined()
    expect(await stored.get('one')).toBeUndefined()
  }))

test('nothing is changed when something is not so, or was not known, and what is so is told', () =>
  withHost(async (hosted) => {
    const transact = await opened(hosted)
    await transact({ writes: [put('one', 1)], entries: [{ part: 2, entries: ['first'] }] })
    const right = { rows: [read('one', { n: 1 })], ends: [end(1, 'first')] }
    const change = { writes: [put('one', 9)], entries: [{ part: 2, entries: ['second'] }] }
    const now = { rows: [{ n: 1 }], ends: [{ seq: 1, entry: 'first' }] }
    for (const wrong of [
      { rows: [read('one', { n: 2 })] },
      { rows: [read('one', { n: 1 }, false)] },
      { rows: [read('one', undefined)] },
      { ends: [end(0, undefined)] },
      { ends: [end(1, 'other')] },
      { ends: [end(1, 'first', false)] },
    ])
      expect(await transact({ ...right, ...change, ...wrong })).toEqual(now)
    const two = { rows: [read('one', { n: 1 }), read('two', { n: 1 })] }
    expect(await transact({ ...change, ...two })).toEqual({ rows: [{ n: 1 }, undefined], ends: [] })
    expect(await hosted.call(1, 'get', 'one')).toEqual({ n: 1 })
    expect(await hosted.call(2, 'last')).toBe(1)
  }))

test('a transaction is done when those who watch have heard of it, and one that is not made waits for none', async () => {
  const answer = Promise.withResolvers<void>()
  await withHost(
    async (hosted) => {
      const transact = await opened(hosted)
      await hosted.call(1, 'watch')
      let isDone = false
      const made = transact({ writes: [put('one', 1)] }).then(() => {
        isDone = true
      })
      await expect.poll(() => hosted.news).toHaveLength(1)
      const refused = { rows: [read('one', undefined)], writes: [put('one', 2)] }
      expect(await transact(refused)).toEqual({ rows: [{ n: 1 }], ends: [] })
      await settled()
      expect(isDone).toBe(false)
      answer.resolve()
      await made
    },
    (news: StoreNews) => 'changed' in news && answer.promise,
  )
})
