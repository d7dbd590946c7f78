import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { maskedCrc32c } from './crc32c.ts'
import { madeByLevel } from './files-parts.ts'
import { fillingOf, gapsIn, recordsIn } from './records.ts'

const blockBytes = 32 * 1024
const headBytes = 7

/** A write-ahead file of LevelDB with records of many sizes, one of which reaches over two blocks and more. */
let file: Buffer
/** Where its records lie. */
let records: [from: number, to: number][]

beforeAll(async () => {
  const rows = Array.from({ length: 60 }, (_, n): [string, string] => [
    `key${n}`,
    'x'.repeat((n * 37) % 1500),
  ])
  file = await madeByLevel(new Map([...rows, ['large', 'y'.repeat(70_000)], ['last', 'z'.repeat(99)]]), {
    table: false,
  })
  records = []
  for (let at = 0; at < file.length; ) {
    const end = Math.ceil((at + 1) / blockBytes) * blockBytes
    if (end - at < headBytes) at = end
    else {
      const to = at + headBytes + file.readUInt16LE(at + 4)
      records.push([at, to])
      at = to
    }
  }
})

/** The file with bytes that are none of a record, from one place to another. */
function harmed(...places: readonly (readonly [from: number, to: number])[]): Buffer {
  const bytes = Buffer.from(file)
  for (const [from, to] of places) for (let at = from; at < to; at++) bytes[at] = bytes[at]! ^ 0x5a
  return bytes
}

const kindAt = (at: number): number => file[at + 6]!

test('what LevelDB wrote has no gaps, also when its end is cut off anywhere', () => {
  expect(new Set(records.map(([from]) => kindAt(from)))).toEqual(new Set([1, 2, 3, 4]))
  expect(gapsIn(file)).toEqual([])
  fc.assert(
    fc.property(fc.nat({ max: file.length }), (end) => {
      expect(gapsIn(file.subarray(0, end))).toEqual([])
    }),
    runs(30),
  )
  for (const [from, to] of records.slice(-3))
    for (const end of [...Array(9).keys()].flatMap((n) => [from + n, to - n]))
      expect(gapsIn(file.subarray(0, end))).toEqual([])
})

test('a record of which any byte is wrong is a gap as long as the record', () => {
  const [from, to] = records[30]!
  for (const at of [from, from + 3, from + 4, from + 6, from + 7, to - 1])
    expect(gapsIn(harmed([at, at + 1]))).toEqual([{ from, to, isInside: true }])
})

test('neighbours that are wrong are one gap, and others are gaps of their own', () => {
  const [first, second, , third] = records.slice(10) as [from: number, to: number][]
  expect(gapsIn(harmed(first!, second!, third!))).toEqual([
    { from: first![0], to: second![1], isInside: true },
    { from: third![0], to: third![1], isInside: true },
  ])
})

test('a gap goes on in the next block when that begins with none', () => {
  const at = records.findIndex(([from]) => from >= blockBytes)
  const [before, behind] = [records[at - 1]!, records[at]!]
  expect(gapsIn(harmed(before))).toEqual([{ from: before[0], to: blockBytes, isInside: true }])
  expect(gapsIn(harmed(before, behind))).toEqual([{ from: before[0], to: behind[1], isInside: true }])
})

test('a whole block can be a gap', () => {
  expect(gapsIn(harmed([0, blockBytes]))).toEqual([{ from: 0, to: blockBytes, isInside: true }])
})

test('what is wrong at the end lies inside nothing, and zeros there are no gap', () => {
  const [from, to] = records.at(-1)!
  expect(gapsIn(harmed([from, to]))).toEqual([{ from, to, isInside: false }])
  const zeros = Buffer.from(file).fill(0, from)
  expect(gapsIn(zeros)).toEqual([])
  expect(gapsIn(Buffer.concat([file, Buffer.alloc(5000)]))).toEqual([])
  const [inside, end] = records[30]!
  expect(gapsIn(Buffer.from(file).fill(0, inside, end))).toEqual([{ from: inside, to: end, isInside: true }])
})

test('a length that reaches too far hides no record behind it', () => {
  const [from, to] = records.at(-2)!
  const bytes = Buffer.from(file)
  bytes.writeUInt16LE(0xffff, from + 4)
  expect(gapsIn(bytes)).toEqual([{ from, to, isInside: true }])
  bytes[from + 6] = 9
  expect(gapsIn(bytes)).toEqual([{ from, to, isInside: true }])
})

/** A record of this many bytes. */
const recordOf = (bytes: number): Buffer => fillingOf({ from: 0, to: bytes })

test('too few bytes for a record at the end of a block are no gap, and as many as one has are', () => {
  for (const rest of [1, 6, 7, 8]) {
    const bytes = Buffer.concat([recordOf(blockBytes - rest), Buffer.alloc(rest, 0x5a), recordOf(50)])
    const gap = { from: blockBytes - rest, to: blockBytes, isInside: true }
    expect(gapsIn(bytes)).toEqual(rest < headBytes ? [] : [gap])
  }
})

test('a record that is no more than a head ends a gap', () => {
  const head = Buffer.alloc(headBytes)
  head[6] = 2
  head.writeUInt32LE(maskedCrc32c(head.subarray(6)))
  const bytes = Buffer.concat([recordOf(blockBytes - 30), Buffer.alloc(23, 0x5a), head, recordOf(50)])
  expect(gapsIn(bytes)).toEqual([{ from: blockBytes - 30, to: blockBytes - headBytes, isInside: true }])
})

test('a record is cut short by the end of the file, and not by that of a block', () => {
  const last = records.findLast(([, to]) => to <= blockBytes)!
  const bytes = Buffer.from(file)
  bytes.writeUInt16LE(0xffff, last[0] + 4)
  expect(gapsIn(bytes)).toEqual([{ from: last[0], to: blockBytes, isInside: true }])
})

test('a record that goes over the end of its block is none, whatever its checksum', () => {
  const bytes = Buffer.concat([recordOf(blockBytes - 30), recordOf(100), recordOf(50)])
  expect(gapsIn(bytes)).toEqual([{ from: blockBytes - 30, to: blockBytes + 70, isInside: true }])
})

test('a last record that is wrong and not cut short is a gap, whatever of it is zeros', () => {
  const [from, to] = records.at(-1)!
  const gap = { from, to, isInside: false }
  expect(gapsIn(harmed([to - 1, to]))).toEqual([gap])
  expect(gapsIn(Buffer.from(file).fill(0, from + 20))).toEqual([gap])
})

test('a gap that is filled reads as a record', () => {
  for (const [from, to] of [records[30]!, [records[30]![0], records[31]![1]] as const]) {
    const bytes = harmed([from, to])
    const [gap] = gapsIn(bytes)
    const filling = fillingOf(gap!)
    expect(filling).toHaveLength(to - from)
    filling.copy(bytes, from)
    expect(gapsIn(bytes)).toEqual([])
  }
})

test('a filling tells of no change, and breaks off', () => {
  const filling = fillingOf({ from: 100, to: 120 })
  expect(filling.subarray(4)).toEqual(
    Buffer.from([13, 0, 1, /* the number of the batch */ 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff]),
  )
  expect(filling).toHaveLength(20)
})

test.each([
  ['within a block', 100, 200, [[100, 200]]],
  ['as long as a head', 100, 107, [[100, 107]]],
  ['as long as a batch', 100, 119, [[100, 119]]],
  ['up to the end of a block', blockBytes - 51, blockBytes, [[blockBytes - 51, blockBytes]]],
  ['from the beginning of a block', blockBytes, blockBytes + 50, [[blockBytes, blockBytes + 50]]],
  [
    'over three blocks',
    blockBytes - 100,
    2 * blockBytes + 9,
    [
      [blockBytes - 100, blockBytes],
      [blockBytes, 2 * blockBytes],
      [2 * blockBytes, 2 * blockBytes + 9],
    ],
  ],
])('a gap %s is filled with one record in each block', (_, from, to, filled) => {
  const filling = fillingOf({ from, to })
  expect(filling).toHaveLength(to - from)
  const found: number[][] = []
  for (let at = 0; at < filling.length; ) {
    const end = at + headBytes + filling.readUInt16LE(at + 4)
    const { length } = filling.subarray(at + headBytes, end)
    expect(filling[at + 6]).toBe(1)
    expect(filling.readUInt32LE(at)).toBe(maskedCrc32c(filling.subarray(at + 6, end)))
    found.push([from + at, from + at + headBytes + length])
    at = end
  }
  expect(found).toEqual(filled)
})

test('fewer bytes than a head has are filled with zeros', () => {
  expect(fillingOf({ from: 100, to: 106 })).toEqual(Buffer.alloc(6))
  expect(fillingOf({ from: blockBytes - 6, to: blockBytes + 20 }).subarray(0, 6)).toEqual(Buffer.alloc(6))
})

test('records are read whole, in order, up to what cannot be read', () => {
  const all = [...recordsIn(file)]
  const values = all.map((record) => /[xyz]*$/.exec(record.toString('latin1'))![0].length)
  expect(values).toEqual([...Array.from({ length: 60 }, (_, n) => (n * 37) % 1500), 70_000, 99])
  // Each is a batch, which begins with the number of its first change.
  expect(all.map((record) => Number(record.readBigUInt64LE(0)))).toEqual(all.map((_, n) => n + 1))
  const [, at] = records[3]!
  const before = [...recordsIn(harmed([at, at + 1]))].slice(0, 4)
  expect(before).toEqual([...recordsIn(file)].slice(0, 4))
  expect([...recordsIn(file.subarray(0, records.at(-1)![1] - 1))]).toHaveLength(61)
})
