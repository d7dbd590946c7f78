import { createHash } from 'node:crypto'
import { z } from 'zod'
import { StoreError } from './errors.ts'
import type { Collection, Store } from './index.ts'

/** Bytes under one key. */
const partBytes = 64 * 1024
/** Parts that are written at a time. */
const partsAtOnce = 16
/** Parts that are deleted at a time. */
const partsDeleted = 8
/** More parts than any body has. */
const mostParts = 999_999_999

/** The bytes of bodies in parts of 64 KB, by the upload that brought them. */
export class BodyParts {
  readonly #parts: Collection<string>

  constructor(store: Store) {
    this.#parts = store.collection('parts', { schema: z.string() })
  }

  /** Writes what a source gives, a few parts at a time. When it rejects, no part is still being written. */
  async write(upload: string, source: AsyncIterable<Uint8Array>): Promise<{ size: number; sha256: string }> {
    const hash = createHash('sha256')
    const writing = new Set<Promise<unknown>>()
    let size = 0
    let count = 0
    try {
      for await (const part of inParts(source)) {
        hash.update(part)
        size += part.length
        const written = this.#parts.put(partId(upload, count), part.toString('base64'))
        count += 1
        writing.add(written)
        written.then(
          () => writing.delete(written),
          () => {},
        )
        if (writing.size === partsAtOnce) await Promise.race(writing)
      }
      await Promise.all(writing)
    } finally {
      // A later deletion of the parts must find all of them.
      await Promise.allSettled(writing)
    }
    return { size, sha256: hash.digest('hex') }
  }

  /** The bytes of an upload of this size, from one to another. Throws `BODY_GONE` when they are not there any more. */
  async *read({ upload, size }: Written, from = 0, to = size): AsyncGenerator<Uint8Array> {
    const end = Math.min(to, size)
    if (from >= end) return
    const first = Math.floor(from / partBytes)
    const range = { from: partId(upload, first), to: partId(upload, Math.ceil(end / partBytes)) }
    let at = first * partBytes
    for await (const [id, text] of this.#parts.scan(range)) {
      // Parts are deleted from the first on, so that a reader that finds the first one finds all.
      if (id !== partId(upload, at / partBytes)) break
      const bytes = Buffer.from(text, 'base64')
      yield bytes.subarray(Math.max(0, from - at), end - at)
      at += bytes.length
    }
    if (at < end) throw new StoreError('BODY_GONE', 'The body was replaced or deleted. Ask for it again.')
  }

  /** Deletes all, from the first on, whatever is missing between them, and few at a time: each is read once more. */
  async delete(upload: string): Promise<void> {
    let n = await this.#partFrom(upload, 0)
    while (n !== undefined) {
      const first = n
      const ids = Array.from({ length: partsDeleted }, (_, i) => partId(upload, first + i))
      await Promise.all(ids.map((id) => this.#parts.delete(id)))
      n = await this.#partFrom(upload, first + partsDeleted)
    }
  }

  /** The number of the first part that is there, of those from `n` on. */
  async #partFrom(upload: string, n: number): Promise<number | undefined> {
    const range = { from: partId(upload, n), to: partId(upload, mostParts), limit: 1 }
    for await (const [id] of this.#parts.scan(range)) return Number(id.slice(upload.length + 1))
    return undefined
  }
}

/** An upload that is whole. */
interface Written {
  readonly upload: string
  readonly size: number
}

const partId = (upload: string, n: number): string => `${upload}/${String(n).padStart(9, '0')}`

/** The same bytes in parts of one size, the last one apart. */
async function* inParts(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let part = Buffer.allocUnsafe(partBytes)
  let filled = 0
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length; ) {
      const taken = Math.min(bytes.length - at, partBytes - filled)
      part.set(bytes.subarray(at, at + taken), filled)
      filled += taken
      at += taken
      if (filled < partBytes) continue
      yield part
      part = Buffer.allocUnsafe(partBytes)
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}
