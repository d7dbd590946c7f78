import { expect, test } from 'vitest'
import { withEnds } from './ends-parts.ts'
import { Counter, rowOptions } from './threads-parts.ts'

/** What two threads see of one another, both ends in this one. */

test('what one erases is closed for the others, whose later handles find it empty', () =>
  withEnds(async (a, b) => {
    const rows = b.namespace('gone').collection('rows', { schema: Counter })
    const log = b.namespace('gone').log('log', rowOptions)
    const counters = await b.namespace('gone').counters('counters')
    await rows.put('one', { n: 1 })
    log.append({ id: 'x', by: 'b' })
    counters.add('c', 1)
    expect((await a.contents('gone/')).map(({ entries }) => entries)).toEqual([1, 1, 1])
    await a.erase('gone/')
    await expect(rows.get('one')).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    expect(() => counters.add('c', 1)).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
    log.append({ id: 'late', by: 'b' })
    expect(await b.namespace('gone').collection('rows', { schema: Counter }).count()).toBe(0)
    expect((await b.namespace('gone').log('log', rowOptions).list()).total).toBe(0)
    expect((await b.namespace('gone').counters('counters')).get('c')).toBe(0)
  }))

test('a counter that is set or cleared elsewhere keeps what was added here since', () =>
  withEnds(async (a, b) => {
    const [one, two] = [await a.counters('use'), await b.counters('use')]
    one.add('x', 5)
    await one.flush()
    await expect.poll(() => two.get('x')).toBe(5)
    two.set('x', 100)
    one.add('x', 1)
    await two.flush()
    await one.flush()
    await expect.poll(() => [one.get('x'), two.get('x')]).toEqual([101, 101])
    two.clear('')
    one.add('y', 2)
    await two.flush()
    await one.flush()
    await expect.poll(() => [one.entries(), two.entries()]).toEqual([[['y', 2]], [['y', 2]]])
  }))

test('rows of a thread that knows fewer fields are indexed by those it knows', () =>
  withEnds(async (a, b) => {
    const { fields: _, ...plain } = rowOptions
    const wide = b.log('calls', rowOptions)
    const narrow = a.log('calls', plain)
    await narrow.list()
    narrow.append({ id: '1', by: 'a' })
    b.log('calls', rowOptions)
    wide.append({ id: '2', by: 'b' })
    expect((await wide.list({ where: { by: 'b' } })).items).toEqual([{ id: '2', by: 'b' }])
    expect((await wide.list()).total).toBe(2)
  }))

test('rows of a dead thread are indexed anew by one that lives', () =>
  withEnds(async (a, b) => {
    const { fields: _, ...plain } = rowOptions
    const log = a.log('calls', plain)
    for (let n = 0; n < 50; n++) log.append({ id: `${n}`, by: n % 2 ? 'odd' : 'even' })
    await a.close()
    const wide = b.log('calls', rowOptions)
    expect((await wide.list({ where: { by: 'odd' } })).total).toBe(25)
    expect(await wide.erase(({ by }) => by === 'odd')).toBe(25)
    expect((await wide.list()).total).toBe(25)
  }))
