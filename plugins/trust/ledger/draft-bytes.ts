import { randomBytes } from 'node:crypto'
import { ByteReader, ByteWriter } from './byte-writer.ts'
import type { Recorded } from './recorded.ts'

/**
 * What stands in a hole, as a text of JSON: random, so that no draft has it. It begins with a character that JSON shows as it is and
 * that drafts hardly ever have, by which holes are found quickly.
 */
export const hole = `\u007f${randomBytes(12).toString('base64url')}`

/** Drafts as bytes: the text that stands in their holes, and of each its time, the number of its digests, its JSON, and these. */
export class DraftBytes {
  /** Whether another thread is about to get them. */
  isLent = false
  readonly #writer: ByteWriter
  /** Where the first draft begins. */
  readonly #start: number

  /** `size` is how many bytes are expected. */
  constructor(size: number) {
    this.#writer = new ByteWriter(size)
    this.#writer.sized(hole)
    this.#start = this.#writer.length
  }

  get capacity(): number {
    return this.#writer.capacity
  }

  /** Takes all drafts out. What `bytes` gave before is written over. */
  clear(): void {
    this.#writer.cut(this.#start)
  }

  /** Returns how many bytes it takes. */
  add({ at, json, digests }: Recorded): number {
    const writer = this.#writer
    const before = writer.length
    writer.number(at)
    writer.size(digests.length)
    writer.sized(json)
    for (const digest of digests) writer.sized(digest)
    return writer.length - before
  }

  get bytes(): Uint8Array {
    return this.#writer.bytes
  }
}

/** Reads what `DraftBytes` has written, up to the first draft. */
export function readDrafts(bytes: Uint8Array): { readonly reader: ByteReader; readonly hole: Buffer } {
  const reader = new ByteReader(bytes)
  const start = reader.text()
  return { reader, hole: reader.bytes.subarray(start, reader.at) }
}

/** One draft as bytes. */
export function bytesOf(recorded: Recorded): Uint8Array {
  const drafts = new DraftBytes(recorded.json.length + 1024)
  drafts.add(recorded)
  return drafts.bytes
}
