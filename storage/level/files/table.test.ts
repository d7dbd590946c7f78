import { beforeAll, expect, test } from 'vitest'
import { maskedCrc32c } from './crc32c.ts'
import { madeByLevel } from './files-parts.ts'
import { condemn, damageOf } from './table.ts'

const rows = 60
const keyOf = (n: number): string => `${'shared/'.repeat(9)}key${String(n).padStart(3, '0')}`

/** A table of LevelDB with several blocks: one of rows that compress well, the others of rows that do not. */
let table: Buffer

beforeAll(async () => {
  const noise = (n: number): string =>
    Array.from({ length: 500 }, (_, at) => String.fromCharCode(33 + ((n * 7919 + at * at * 31) % 90))).join(
      '',
    )
  const values = Array.from({ length: rows }, (_, n): [string, string] => [
    keyOf(n),
    n < 30 ? noise(n) : 'x'.repeat(500),
  ])
  table = await madeByLevel(new Map(values), { table: true })
})

const harmedAt = (...places: readonly number[]): Buffer => {
  const bytes = Buffer.from(table)
  for (const at of places) bytes[at] = bytes[at]! ^ 1
  return bytes
}

/** Where the footer, of 48 bytes, says that its blocks lie: of what helps to find data, and of the index. */
function footer(): { meta: { offset: number; size: number }; index: { offset: number; size: number } } {
  let at = table.length - 48
  const varint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = table[at++]!
      value += (byte & 127) * 2 ** shift
      if (byte < 128) return value
    }
  }
  return { meta: { offset: varint(), size: varint() }, index: { offset: varint(), size: varint() } }
}

test('a table that LevelDB wrote has no damage', () => {
  expect(damageOf(table)).toEqual([])
})

test('each block is told with the keys that it may hold, and no byte of data is left out', () => {
  const found = new Map<number, readonly [string, string]>()
  for (let at = 0; at < footer().meta.offset; at += 50) {
    const damage = damageOf(harmedAt(at))
    expect(damage).not.toBe('all')
    for (const { offset, size, keys } of damage === 'all' ? [] : damage) {
      expect(at).toBeGreaterThanOrEqual(offset)
      expect(at).toBeLessThan(offset + size + 5)
      if (keys) found.set(offset, keys)
    }
    expect(damage).toHaveLength(1)
  }
  const ranges = [...found].sort(([a], [b]) => a - b).map(([, keys]) => keys)
  expect(ranges.length).toBeGreaterThan(3)
  expect(ranges[0]![0]).toBe('')
  for (const [at, [after]] of ranges.entries()) if (at > 0) expect(after).toBe(ranges[at - 1]![1])
  expect(ranges.at(-1)![1] >= keyOf(rows - 1)).toBe(true)
  for (const [, last] of ranges.slice(0, -1)) expect(last).toMatch(/^(shared\/){9}key[\d:]+$/)
})

test('several bad blocks are told in their order', () => {
  const damage = damageOf(harmedAt(10, 4000))
  expect(damage).toMatchObject([{ offset: 0 }, { keys: [expect.any(String), expect.any(String)] }])
})

test('a bad block of what only helps to find data holds no keys', () => {
  const { meta } = footer()
  expect(damageOf(harmedAt(meta.offset))).toEqual([meta])
})

test.each<[string, () => Buffer]>([
  ['whose index is bad', () => harmedAt(footer().index.offset)],
  ['whose end is bad', () => harmedAt(table.length - 1)],
  ['whose end is short', () => table.subarray(-47)],
  ['with nothing but an end', () => table.subarray(-48)],
  ['that is cut short', () => table.subarray(0, -1)],
  ['that is empty', () => Buffer.alloc(0)],
  ['whose beginning is missing', () => table.subarray(100)],
])('a table %s is lost', (_, harmed) => {
  expect(damageOf(harmed())).toBe('all')
})

test('an index with a sound sum, but without sense, is lost', () => {
  const { index } = footer()
  const bytes = Buffer.from(table).fill(0xff, index.offset, index.offset + index.size)
  bytes.fill(0, index.offset + index.size - 4, index.offset + index.size + 1)
  const sum = maskedCrc32c(bytes.subarray(index.offset, index.offset + index.size + 1))
  bytes.writeUInt32LE(sum, index.offset + index.size + 1)
  expect(damageOf(bytes)).toBe('all')
})

/** A block as LevelDB stores one, with its kind and sum: its entries, then where they begin, here only the first. */
function stored(entries: readonly (readonly [key: string, value: readonly number[]])[]): Buffer {
  const lines = entries.map(([key, value]) =>
    Buffer.concat([Buffer.from([0, key.length, value.length]), Buffer.from(key), Buffer.from(value)]),
  )
  const block = Buffer.concat([...lines, Buffer.from([0, 0, 0, 0, 1, 0, 0, 0, /* kind */ 0])])
  const sum = Buffer.alloc(4)
  sum.writeUInt32LE(maskedCrc32c(block))
  return Buffer.concat([block, sum])
}

/** A table whose index names a block of this size at its beginning, where there are none but the index and the meta block. */
function naming(size: number): Buffer {
  const meta = stored([])
  const index = stored([['key\u0001\u0000\u0000\u0000\u0000\u0000\u0000\u0000', [0, size]]])
  const footer = Buffer.alloc(48)
  footer.set([0, meta.length - 5, meta.length, index.length - 5])
  table.copy(footer, 40, table.length - 8)
  return Buffer.concat([meta, index, footer])
}

test('a block that is not where its index says is bad, wherever it would end', () => {
  const whole = stored([]).length - 5
  expect(damageOf(naming(whole))).toEqual([])
  const all = naming(whole).length
  for (const size of [whole + 1, all - 48 - 5, all - 48 - 4, all - 5, 127])
    expect(damageOf(naming(size))).toEqual([{ offset: 0, size, keys: ['', 'key'] }])
})

test('a block that is condemned is bad, and no other', () => {
  const [bad] = damageOf(harmedAt(10))
  const bytes = Buffer.from(table)
  if (typeof bad === 'object') condemn(bytes, bad)
  expect(damageOf(bytes)).toEqual([bad])
  expect(bytes.subarray(0, 100)).toEqual(table.subarray(0, 100))
})
