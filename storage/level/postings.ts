import type { FieldValue } from '../index.ts'

/** Rows by value, each list ascending. */
export type PostingMap = Map<FieldValue, number[]>

const lengthBytes = 4

/**
 * All posting lists of one field in one block, as one value: the length of a dictionary (4 bytes), the dictionary,
 * and the row numbers (2 bytes each), the lists one after the other. A dictionary line is the value, a NUL, where
 * its list begins and how many rows it has; neither NUL nor a line break can occur in the text of a value. All
 * integers are little-endian.
 */
export function encodePostings(postings: PostingMap): Uint8Array {
  let dictionary = '\n'
  let rows = 0
  for (const [value, list] of postings) {
    dictionary += `${token(value)}\0${rows} ${list.length}\n`
    rows += list.length
  }
  const size = Buffer.byteLength(dictionary)
  const bytes = Buffer.allocUnsafe(lengthBytes + size + rows * 2)
  bytes.writeUInt32LE(size)
  bytes.write(dictionary, lengthBytes)
  let at = lengthBytes + size
  for (const list of postings.values()) {
    for (const row of list) {
      bytes[at] = row & 0xff
      bytes[at + 1] = row >>> 8
      at += 2
    }
  }
  return bytes
}

/** A posting list that is not decoded until its rows are asked for. */
export interface Posting {
  readonly count: number
  rows(): ArrayLike<number>
}

/** Finds the list of one value in what `encodePostings` made; undefined when no row has it. */
export function findPosting(stored: Uint8Array, value: FieldValue): Posting | undefined {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  const rowsAt = lengthBytes + bytes.readUInt32LE()
  const dictionary = bytes.subarray(lengthBytes, rowsAt)
  const needle = Buffer.from(`\n${token(value)}\0`)
  const found = dictionary.indexOf(needle)
  if (found < 0) return undefined
  const end = dictionary.indexOf(10, found + needle.length)
  const [start = 0, count = 0] = dictionary
    .toString('latin1', found + needle.length, end)
    .split(' ')
    .map(Number)
  return { count, rows: () => decodeRows(bytes, rowsAt + start * 2, count) }
}

function decodeRows(bytes: Buffer, from: number, count: number): Uint16Array {
  const rows = new Uint16Array(count)
  for (let i = 0, at = from; i < count; i++, at += 2) rows[i] = bytes[at]! | (bytes[at + 1]! << 8)
  return rows
}

/** Texts of values of different types differ. */
function token(value: FieldValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
