import { expect, test } from 'vitest'
import { LogKeys } from './log-keys.ts'

const keys = new LogKeys('part/events')

test('every key of a log is what earlier releases wrote', () => {
  expect({
    meta: keys.meta,
    headers: keys.headers,
    cells: keys.cells,
    chunks: keys.chunks,
    rows: keys.rows(1),
    bodies: keys.bodies(2),
    largeBody: keys.largeBody(3),
    header: keys.header(4),
    ids: keys.ids(5),
    times: keys.times(6),
    numbers: keys.numbers(7, 'cost'),
    posting: keys.posting(8, 'model'),
    postings: keys.postings(9),
    cell: keys.cell('2026-01-01'),
  }).toEqual({
    meta: 'l/part/events!m',
    headers: 'l/part/events!h!',
    cells: 'l/part/events!c!',
    chunks: 'l/part/events!r',
    rows: 'l/part/events!r000000000001',
    bodies: 'l/part/events!b000000000002',
    largeBody: 'l/part/events!y000000000003',
    header: 'l/part/events!h!000000000004',
    ids: 'l/part/events!i000000000005',
    times: 'l/part/events!t000000000006',
    numbers: 'l/part/events!n000000000007!cost',
    posting: 'l/part/events!p000000000008!model',
    postings: 'l/part/events!p000000000009!',
    cell: 'l/part/events!c!2026-01-01',
  })
})

test('ranges hold the postings of one block, and the large bodies of some rows', () => {
  const isIn = ({ gte, lt }: { gte: string; lt: string }, key: string) => key >= gte && key < lt
  const postings = keys.postingsRange(8)
  expect([7, 8, 9].map((block) => isIn(postings, keys.posting(block, 'model')))).toEqual([false, true, false])
  const bodies = keys.largeBodiesRange(15, 17)
  expect([14, 15, 16, 17].map((row) => isIn(bodies, keys.largeBody(row)))).toEqual([false, true, true, false])
})
