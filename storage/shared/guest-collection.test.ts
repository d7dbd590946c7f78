import { expect, test } from 'vitest'
import { z } from 'zod'
import type { Change } from '../index.ts'
import { withEnds } from './ends-parts.ts'
import { Counter } from './threads-parts.ts'

type Heard = Change<{ n: number }>['row'][]

test('who leaves a watch, also twice, leaves the others watching', () =>
  withEnds(async (a, b) => {
    const rows = a.collection('rows', { schema: Counter })
    const theirs = b.collection('rows', { schema: Counter })
    const heard: Heard[] = [[], [], []]
    const [leave, other, last] = heard.map((own) => rows.watch(({ row }) => own.push(row)))
    await theirs.put('one', { n: 1 })
    leave!()
    leave!()
    await theirs.put('one', { n: 2 })
    other!()
    await theirs.put('one', { n: 3 })
    last!()
    await theirs.put('one', { n: 4 })
    expect(heard.map((own) => own.map((row) => row?.n))).toEqual([[1], [1, 2], [1, 2, 3]])
    const again: Heard = []
    rows.watch(({ row }) => again.push(row))
    await theirs.put('one', { n: 5 })
    expect(again).toEqual([{ n: 5 }])
  }))

test('a listener that fails is told of, and the write that it heard is done', async () => {
  const failed: unknown[] = []
  await withEnds(
    async (a, b) => {
      const heard: unknown[] = []
      const rows = a.collection('rows', { schema: Counter })
      rows.watch(() => {
        throw new Error('out of order')
      })
      rows.watch((change) => heard.push(change))
      await b.collection('rows', { schema: Counter }).put('one', { n: 1 })
      expect(heard).toEqual([{ id: 'one', row: { n: 1 } }])
      expect(await rows.get('one')).toEqual({ n: 1 })
    },
    { failed: (error) => failed.push(error) },
  )
  expect(failed).toMatchObject([{ message: 'out of order' }])
})

test('a write that is called while others of its id wait comes behind them', () =>
  withEnds(async (a) => {
    const rows = a.collection('rows', { schema: Counter })
    const first = rows.put('one', { n: 2 })
    const second = rows.update('one', (row) => row && { n: row.n * 10 })
    await first
    await Promise.all([second, rows.put('one', { n: 7 })])
    expect(await rows.get('one')).toEqual({ n: 7 })
    expect(await second).toEqual({ n: 20 })
  }))

test('rows of the present version are indexed anew as they are', () =>
  withEnds(async (a, b) => {
    await a.collection('rows', { schema: Counter }).put('one', { n: 1 })
    const migrate = (): never => {
      throw new Error('there is nothing to migrate')
    }
    const rows = b.collection('rows', { schema: Counter, indexes: { n: ({ n }) => n }, migrate })
    expect((await rows.list({ index: 'n', equals: 1 })).items).toEqual([{ n: 1 }])
  }))

test('a row that is no object has no indexes in a thread without the store', () =>
  withEnds(async (a) => {
    const numbers = a.collection('numbers', { schema: z.number(), indexes: { itself: (n) => n } })
    await expect(numbers.put('one', 1)).rejects.toMatchObject({ code: 'ROW_INVALID' })
    const plain = a.collection('plain', { schema: z.number() })
    await plain.put('one', 1)
    expect(await plain.get('one')).toBe(1)
  }))
