import { expect, test } from 'vitest'
import { LogQueue } from './log-queue.ts'
import { type QueuedRow, queuedRow } from './queued-row.ts'

const options = { id: (row: string) => row, time: () => 1 }
/** A row of two characters more than its name. */
const row = (name: string, body?: string): QueuedRow => queuedRow(options, name, body)
const names = (rows: readonly QueuedRow[]): string[] => rows.map(({ facts }) => facts.id)

test('a row that would go over the bound is dropped, and a smaller one still fits', () => {
  const queue = new LogQueue(10)
  queue.push(row('1234'))
  expect([queue.depth, queue.bytes, queue.isFull]).toEqual([1, 6, false])
  queue.push(row('123'))
  expect([queue.depth, queue.bytes, queue.dropped]).toEqual([1, 6, 1])
  queue.push(row('1', 'b'))
  expect([queue.depth, queue.bytes, queue.isFull, queue.dropped]).toEqual([2, 10, true, 1])
  queue.maxBytes = 13
  queue.push(row('2'))
  expect([queue.depth, queue.isFull]).toEqual([3, true])
})

test('rows that are being written count until they are settled, and are handed over once', () => {
  const queue = new LogQueue(10)
  queue.push(row('1', 'body'))
  const first = queue.take()
  expect([names(first.rows), first.bytes]).toEqual([['1'], 7])
  queue.push(row('2'))
  queue.push(row('too much'))
  expect([queue.depth, queue.bytes, queue.isFull, queue.dropped]).toEqual([2, 10, true, 1])
  expect(queue.waiting).toEqual({ rows: 1, bytes: 3 })
  const second = queue.take()
  expect([names(second.rows), queue.waiting]).toEqual([['2'], { rows: 0, bytes: 0 }])
  queue.settle(first)
  expect([queue.depth, queue.bytes]).toEqual([1, 3])
  queue.settle(second)
  expect([queue.depth, queue.bytes, names(queue.take().rows)]).toEqual([0, 0, []])
})

test('rows that come back stand before later ones, behind those that came back before, and keep their size', () => {
  const queue = new LogQueue(100)
  for (const name of ['a', 'b']) queue.push(row(name, 'body'))
  const first = queue.take()
  for (const name of ['c', 'd']) queue.push(row(name))
  queue.settle(first)
  queue.putBack(first.rows.slice(0, 1))
  queue.putBack(first.rows.slice(1))
  expect([queue.depth, queue.bytes]).toEqual([4, 20])
  const second = queue.take()
  expect(names(second.rows)).toEqual(['a', 'b', 'c', 'd'])
  queue.settle(second)
  queue.push(row('e'))
  queue.putBack(second.rows.slice(3))
  expect(names(queue.take().rows)).toEqual(['d', 'e'])
})

test('rows that are dropped or refused are counted, and the refused are told once', () => {
  const queue = new LogQueue(100)
  queue.drop(2)
  queue.refuse()
  queue.refuse()
  expect(queue.dropped).toBe(4)
  expect([queue.takeRefused(), queue.takeRefused()]).toEqual([2, 0])
})
