import { expect, test } from 'vitest'
import { collect } from '../conformance/harness.ts'
import { StoreError } from '../errors.ts'
import { Gate } from '../level/gate.ts'
import { type GuestParts, isRefusal, readOn } from './guest-part.ts'

/** A part whose other side has these batches; `asked` is what it was asked. */
function partWith(...batches: readonly (readonly unknown[] | Error)[]) {
  const asked: unknown[][] = []
  const left = [...batches]
  const gate = new Gate()
  const ask = async (...args: unknown[]): Promise<unknown> => {
    asked.push(args)
    if (args[0] === 'done') throw new Error('gone')
    const items = left.shift()
    if (items instanceof Error) throw items
    return { cursor: 7, items, isOver: left.length === 0 }
  }
  const parts: GuestParts = {
    owner: {},
    part: 1,
    path: 'rows',
    ask,
    gate,
    failed: () => {},
    report: () => {},
    crossMs: 0,
  }
  return { parts, asked, gate }
}

test('a listing is asked for batch by batch, to its end', async () => {
  const { parts, asked } = partWith([1, 2], [], [3])
  expect(await collect(readOn(parts, 'a', 'b'))).toEqual([1, 2, 3])
  expect(asked).toEqual([
    ['scan', 'a', 'b'],
    ['more', 7],
    ['more', 7],
  ])
})

test('a listing that is left early is given back', async () => {
  const { parts, asked } = partWith([1, 2], [3])
  for await (const item of readOn(parts)) if (item === 2) break
  expect(asked).toEqual([['scan'], ['done', 7]])
})

test('a listing that is left in its last batch has nothing to give back', async () => {
  const { parts, asked } = partWith([1, 2])
  for await (const item of readOn(parts)) if (item === 1) break
  expect(asked).toEqual([['scan']])
})

test('a listing that fails later is given back, with its error', async () => {
  const { parts, asked } = partWith([1], new Error('out of order'))
  await expect(collect(readOn(parts))).rejects.toThrow('out of order')
  expect(asked.at(-1)).toEqual(['done', 7])
})

test('a listing is not read on when its part is closed', async () => {
  const { parts, asked, gate } = partWith([1, 2], [3])
  const read: unknown[] = []
  const reading = async (): Promise<void> => {
    for await (const item of readOn(parts)) {
      read.push(item)
      await gate.close()
    }
  }
  await expect(reading()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  expect([read, asked.at(-1)]).toEqual([[1], ['done', 7]])
  await expect(collect(readOn(parts))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  expect(asked).toHaveLength(2)
})

test('only rows that the store refuses for now wait for it', () => {
  expect(isRefusal(new StoreError('STORE_FAILED', 'The disk is full.'))).toBe(true)
  expect(isRefusal(new StoreError('STORE_CLOSED', 'The store is closed.'))).toBe(false)
  expect(isRefusal(Object.assign(new Error('other'), { code: 'STORE_FAILED' }))).toBe(false)
})
