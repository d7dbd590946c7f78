import { hash } from 'node:crypto'
import { repairedJson } from '#kit'
import type { ByteReader, ByteWriter } from '../byte-writer.ts'
import { readDrafts } from '../draft-bytes.ts'
import { type End, idOf } from '../end.ts'
import { canonicalBytes } from './canonical-bytes.ts'

/** Where no hole is. */
const missing = -1

/**
 * Makes lines of drafts, one for each entry. It works on bytes from one end to the other, since texts for all the pieces would cost
 * more than the hashes.
 */
export class Linking {
  /** The last entry that was made, or what the first one follows. */
  end: End
  count = 0
  readonly #drafts: ByteReader
  readonly #hole: Buffer
  /** The entries as JSON, one a line: their canonical JSON with the hash as the last field. */
  readonly #lines: ByteWriter
  #ms = Number.NaN
  #time = ''

  constructor(drafts: Uint8Array, end: End, lines: ByteWriter) {
    const { reader, hole } = readDrafts(drafts)
    this.#drafts = reader
    this.#hole = hole
    this.#lines = lines
    this.end = end
  }

  get isAtEnd(): boolean {
    return this.#drafts.isAtEnd
  }

  /**
   * Makes an entry of the next draft. False if it can be none: one of its digests is of what is no JSON, or it has not all of its
   * holes, since two of its names are the same once they are repaired.
   */
  next(): boolean {
    const drafts = this.#drafts
    const at = drafts.number()
    const digests = drafts.size()
    const start = drafts.text()
    const end = drafts.at
    const hashes: string[] = []
    for (let n = 0; n < digests; n++) {
      const digest = this.#digest()
      if (digest !== undefined) hashes.push(digest)
    }
    if (hashes.length < digests) return false
    const before = this.#lines.length
    const isPlaced = this.#place(canonicalOf(drafts.bytes, start, end), at, hashes)
    if (!isPlaced) this.#lines.cut(before)
    return isPlaced
  }

  /** The hash of the text that comes next; undefined for what is no JSON. */
  #digest(): string | undefined {
    const start = this.#drafts.text()
    try {
      return hash('sha256', canonicalOf(this.#drafts.bytes, start, this.#drafts.at))
    } catch {
      return undefined
    }
  }

  /** Writes the entry that this JSON is of, with what stands in its holes, behind the last one. False where a hole is missing. */
  #place(draft: Buffer, at: number, hashes: readonly string[]): boolean {
    const lines = this.#lines
    const { ledger, hash: last } = this.end
    const created_at = this.#timeOf(at)
    const seq = this.end.seq + 1
    if (this.count > 0) lines.ascii('\n')
    const first = lines.length
    let from = this.#copyToHole(draft, 0)
    lines.ascii(`"${created_at}"`)
    for (const digest of hashes) {
      from = this.#copyToHole(draft, from)
      lines.ascii(`"${digest}"`)
    }
    from = this.#copyToHole(draft, from)
    // An id, a hash and a time have no character that JSON would escape.
    lines.ascii(`"${idOf(ledger, seq)}","ledger":"${ledger}","prev_hash":"${last}"`)
    from = this.#copyToHole(draft, from)
    // With one missing, the search for the last one is in vain.
    if (from === missing) return false
    lines.ascii(String(seq))
    lines.copy(draft, from, draft.length)
    const own = hash('sha256', lines.bytes.subarray(first))
    lines.cut(lines.length - 1)
    lines.ascii(`,"hash":"${own}"}`)
    this.end = { ledger, seq, hash: own, created_at }
    this.count += 1
    return true
  }

  /** Writes what comes before the next hole. Returns where it goes on behind the hole, or that there is none. */
  #copyToHole(bytes: Buffer, from: number): number {
    const hole = this.#hole
    let at = from
    do {
      at = bytes.indexOf(hole[0]!, at) + 1
      if (at === 0) return missing
    } while (!isAt(bytes, hole, at - 1))
    const [before, behind] = [at - 2, at + hole.length]
    this.#lines.copy(bytes, from, before)
    return behind
  }

  /** The time of an entry. A clock that was set back leaves the times of entries in order. */
  #timeOf(ms: number): string {
    if (ms !== this.#ms) {
      this.#ms = ms
      this.#time = new Date(ms).toISOString()
    }
    return this.end.created_at > this.#time ? this.end.created_at : this.#time
  }
}

/** The canonical JSON of some JSON, repaired where it has no such form. Throws for what is no JSON. The next call may write over it. */
function canonicalOf(bytes: Buffer, start: number, end: number): Buffer {
  const text = (): string => repairedJson(JSON.parse(bytes.toString('utf8', start, end)))
  return canonicalBytes(bytes, start, end) ?? Buffer.from(text())
}

function isAt(bytes: Buffer, what: Buffer, at: number): boolean {
  for (let n = 1; n < what.length; n++) if (bytes[at + n] !== what[n]) return false
  return true
}
