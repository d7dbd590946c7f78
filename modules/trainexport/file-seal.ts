import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Body } from '#kernel'

/** A file as it is read: its own bytes, whatever lies on disk. */
export type Readable = Pick<Body, 'size' | 'read'>

export const keyBytes = 32
/** Of a file, before they are sealed: one chunk is in memory at a time. */
export const chunkBytes = 64 * 1024
const saltBytes = 32
const tagBytes = 16
const sealedBytes = chunkBytes + tagBytes
const cipherName = 'aes-256-gcm'

/** The file on disk is not as it was written, or is another one. */
export class FileAltered extends Error {
  override readonly name = 'FileAltered'
}

/**
 * Seals files as streams: a random salt, then chunks under AES-256-GCM with a key that HKDF-SHA-256 derives from `key`, the salt
 * and the file's name. The nonce of a chunk is its number and whether it is the last, so chunks that are altered, swapped,
 * missing or of another file are noticed. A file that is written anew gets another salt, and with it another key.
 */
export class FileSeal {
  readonly #key: Uint8Array

  /** `key` has `keyBytes` random bytes. */
  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** The bytes of a file as they are to lie on disk. */
  async *seal(name: string, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const salt = randomBytes(saltBytes)
    const key = this.#keyOf(name, salt)
    yield salt
    let number = 0
    let last: Uint8Array = new Uint8Array()
    for await (const chunk of pieces(source, chunkBytes)) {
      // Only the next one tells that it was not the last.
      if (last.length > 0) yield sealed(key, number++, false, last)
      last = chunk
    }
    yield sealed(key, number, true, last)
  }

  /** The file behind what lies on disk. Throws `FileAltered` when its end is not that of a whole one, as reading it does later. */
  async open(name: string, { size: onDisk, read }: Readable): Promise<Readable> {
    const all = onDisk - saltBytes
    const count = Math.ceil(all / sealedBytes)
    const size = all - count * tagBytes
    if (count < 1 || size < (count - 1) * chunkBytes) throw new FileAltered('The file is too short.')
    const key = this.#keyOf(name, await whole(read(0, saltBytes)))

    async function* chunks(first: number, end: number): AsyncGenerator<Buffer> {
      const stored = read(saltBytes + first * sealedBytes, Math.min(onDisk, saltBytes + end * sealedBytes))
      let number = first
      for await (const piece of pieces(stored, sealedBytes)) {
        yield opened(key, number, number === count - 1, piece)
        number += 1
      }
      if (number !== end) throw new FileAltered('The file ends too early.')
    }

    for await (const _ of chunks(count - 1, count));
    return {
      size,
      async *read(from = 0, to = size) {
        if (from >= to) return
        const first = Math.floor(from / chunkBytes)
        let at = first * chunkBytes
        for await (const chunk of chunks(first, Math.ceil(to / chunkBytes))) {
          yield chunk.subarray(Math.max(0, from - at), to - at)
          at += chunk.length
        }
      },
    }
  }

  #keyOf(name: string, salt: Uint8Array): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#key, salt, `switchyard file ${name}`, keyBytes))
  }
}

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(number, 7)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

function sealed(key: Uint8Array, number: number, isLast: boolean, chunk: Uint8Array): Buffer {
  const cipher = createCipheriv(cipherName, key, nonceOf(number, isLast))
  return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()])
}

function opened(key: Uint8Array, number: number, isLast: boolean, piece: Buffer): Buffer {
  if (piece.length < tagBytes) throw new FileAltered('A part of the file is too short.')
  const decipher = createDecipheriv(cipherName, key, nonceOf(number, isLast), { authTagLength: tagBytes })
  decipher.setAuthTag(piece.subarray(-tagBytes))
  const chunk = decipher.update(piece.subarray(0, -tagBytes))
  try {
    return Buffer.concat([chunk, decipher.final()])
  } catch (cause) {
    throw new FileAltered('A part of the file is not as it was written.', { cause })
  }
}

/** The same bytes in pieces of so many; the last one may be shorter, and none is empty. */
async function* pieces(source: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Buffer> {
  let waiting: Uint8Array[] = []
  let length = 0
  for await (let some of source) {
    while (length + some.length >= bytes) {
      const rest = bytes - length
      yield Buffer.concat([...waiting, some.subarray(0, rest)])
      some = some.subarray(rest)
      waiting = []
      length = 0
    }
    if (some.length === 0) continue
    waiting.push(some)
    length += some.length
  }
  if (length > 0) yield Buffer.concat(waiting)
}

async function whole(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const part of source) parts.push(part)
  return Buffer.concat(parts)
}
