import { maskedCrc32c } from './crc32c.ts'

/** A file of records, which LevelDB's write-ahead files and its directory are: blocks of so many bytes. */
const blockBytes = 32 * 1024
/** Checksum, length and kind. */
const headBytes = 7
const full = 1
const first = 2
const last = 4
const kinds = [1, 2, 3, 4]

/** Bytes that hold no record, where there should be some. */
export interface Gap {
  readonly from: number
  readonly to: number
  /** Whether records follow: then it is no end that was cut short, as a power cut leaves one. */
  readonly isInside: boolean
}

/** What cannot be read of a file of records. One that ends within a record is whole: its writer was killed. */
export function gapsIn(file: Buffer): Gap[] {
  const gaps: { from: number; to: number }[] = []
  let lastRecord = 0
  for (let block = 0; block < file.length; block += blockBytes) {
    const end = Math.min(block + blockBytes, file.length)
    for (let at = block; end - at >= headBytes; ) {
      const next = recordEnd(file, at, end)
      if (next !== undefined) {
        lastRecord = next
        at = next
        continue
      }
      if (end === file.length && isCutShort(file, at, end)) break
      const sound = nextRecord(file, at, end) ?? end
      if (gaps.at(-1)?.to === at) gaps.at(-1)!.to = sound
      else gaps.push({ from: at, to: sound })
      at = sound
    }
  }
  return gaps
    .map((gap) => ({ ...gap, isInside: gap.from < lastRecord }))
    .filter(({ from, to, isInside }) => isInside || file.subarray(from, to).some((byte) => byte !== 0))
}

/** The records of a file that has no gaps, those whole that are split over blocks. */
export function* recordsIn(file: Buffer): Generator<Buffer> {
  let parts: Buffer[] = []
  for (let block = 0; block < file.length; block += blockBytes) {
    const end = Math.min(block + blockBytes, file.length)
    for (let at = block; end - at >= headBytes; ) {
      const next = recordEnd(file, at, end)
      if (next === undefined) break
      const kind = file[at + 6]!
      if (kind === full || kind === first) parts = []
      parts.push(file.subarray(at + headBytes, next))
      if (kind === full || kind === last) yield Buffer.concat(parts)
      at = next
    }
  }
}

/**
 * What to write in place of a gap, so that LevelDB reads on behind it: it drops the rest of a block otherwise. In each block it
 * is a record of a batch without changes that breaks off, or of too few bytes for a batch; LevelDB passes over both.
 */
export function fillingOf({ from, to }: Pick<Gap, 'from' | 'to'>): Buffer {
  const filling = Buffer.alloc(to - from)
  for (let at = from; at < to; ) {
    const end = Math.min(to, (Math.floor(at / blockBytes) + 1) * blockBytes)
    if (end - at >= headBytes) fillerOf(end - at).copy(filling, at - from)
    at = end
  }
  return filling
}

/** A record of this many bytes, head included. */
function fillerOf(bytes: number): Buffer {
  const body = Buffer.alloc(bytes - headBytes, 0xff)
  emptyBatch.copy(body)
  const head = Buffer.alloc(headBytes)
  head.writeUInt32LE(maskedCrc32c(Buffer.of(full), body), 0)
  head.writeUInt16LE(body.length, 4)
  head.writeUInt8(full, 6)
  return Buffer.concat([head, body])
}

/** Sequence number 1, no changes. */
const emptyBatch = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])

/** Where the record here ends, whose head there is room for; undefined when there is none. */
function recordEnd(file: Buffer, at: number, end: number): number | undefined {
  const kind = file[at + 6]!
  const to = at + headBytes + file.readUInt16LE(at + 4)
  if (to > end || !kinds.includes(kind)) return undefined
  return file.readUInt32LE(at) === maskedCrc32c(file.subarray(at + 6, to)) ? to : undefined
}

function nextRecord(file: Buffer, from: number, end: number): number | undefined {
  for (let at = from; end - at >= headBytes; at++) if (recordEnd(file, at, end) !== undefined) return at
  return undefined
}

/** Whether a record begins here that the end of the file cuts short. */
const isCutShort = (file: Buffer, at: number, end: number): boolean =>
  kinds.includes(file[at + 6]!) &&
  at + headBytes + file.readUInt16LE(at + 4) > end &&
  nextRecord(file, at, end) === undefined
