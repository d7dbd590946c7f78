import { ByteReader } from './byte-reader.ts'
import { maskedCrc32c } from './crc32c.ts'
import { uncompress } from './snappy.ts'

const footerBytes = 48
const magic = Buffer.from('57fb808b247547db', 'hex')
/** Kind and checksum, behind each block. */
const trailerBytes = 5
const snappy = 1

/** Where a block lies. */
interface Handle {
  readonly offset: number
  readonly size: number
}

/** A block of a table whose checksum is wrong. */
export interface BadBlock extends Handle {
  /** The keys it may have held: behind the first, up to the last. Absent for a block that holds none. */
  readonly keys?: readonly [after: string, last: string]
}

/** What cannot be read of a table: some of its blocks, or all of it. */
export type TableDamage = readonly BadBlock[] | 'all'

/** Checks a table by the checksums that it has; LevelDB itself does not look at them. */
export function damageOf(table: Buffer): TableDamage {
  try {
    const footer = table.subarray(-footerBytes)
    if (!footer.subarray(-magic.length).equals(magic)) return 'all'
    const reader = new ByteReader(footer)
    const [meta, index] = [handleIn(reader), handleIn(reader)]
    if (!isSound(table, index)) return 'all'
    return [...dataDamage(table, index), ...metaDamage(table, meta)]
  } catch (error) {
    if (error instanceof RangeError) return 'all'
    throw error
  }
}

/** Makes LevelDB see that a block is bad: it then drops this block, and no other. */
export function condemn(table: Buffer, { offset, size }: BadBlock): void {
  table[offset + size] = 0xff
}

function dataDamage(table: Buffer, index: Handle): BadBlock[] {
  const bad: BadBlock[] = []
  let before = ''
  for (const [key, handle] of entriesOf(table, index)) {
    const last = key.subarray(0, -8).toString()
    if (!isSound(table, handle)) bad.push({ ...handle, keys: [before, last] })
    before = last
  }
  return bad
}

/** Blocks that only help to find data. */
function metaDamage(table: Buffer, meta: Handle): BadBlock[] {
  if (!isSound(table, meta)) return [meta]
  return entriesOf(table, meta).flatMap(([, handle]) => (isSound(table, handle) ? [] : [handle]))
}

/** The keys and handles in a block, whose keys share their beginnings. */
function entriesOf(table: Buffer, { offset, size }: Handle): [key: Buffer, handle: Handle][] {
  const stored = table.subarray(offset, offset + size)
  const block = table[offset + size] === snappy ? uncompress(stored) : stored
  const restarts = block.readUInt32LE(block.length - 4)
  const reader = new ByteReader(block.subarray(0, block.length - 4 * (restarts + 1)))
  const entries: [Buffer, Handle][] = []
  let key = Buffer.alloc(0)
  while (!reader.isOver) {
    const [shared, own, length] = [reader.varint(), reader.varint(), reader.varint()]
    key = Buffer.concat([key.subarray(0, shared), reader.take(own)])
    entries.push([key, handleIn(new ByteReader(reader.take(length)))])
  }
  return entries
}

const handleIn = (reader: ByteReader): Handle => ({ offset: reader.varint(), size: reader.varint() })

function isSound(table: Buffer, { offset, size }: Handle): boolean {
  const end = offset + size
  if (end + trailerBytes > table.length - footerBytes) return false
  return table.readUInt32LE(end + 1) === maskedCrc32c(table.subarray(offset, end + 1))
}
