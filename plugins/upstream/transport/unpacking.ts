import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib'
import { contain } from '#kit'

/** Where unpacked bytes go. */
export interface Unpacked {
  data(bytes: Buffer): void
  end(): void
  /** The bytes were not packed as it was said, or not all of them came. */
  failed(error: Error): void
  /** More can be taken, after a write that said there was enough. */
  drained(): void
}

type Unpack = (first: Buffer) => Transform

/** Each gives at once what it can, so that an event never waits for the one after it. */
const zlib = { flush: constants.Z_SYNC_FLUSH }
const unpacks: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', () => createGunzip(zlib)],
  ['x-gzip', () => createGunzip(zlib)],
  // The standard wants zlib's header, and some send what they packed without it.
  ['deflate', ([first = 0]) => ((first & 0x0f) === 8 ? createInflate(zlib) : createInflateRaw(zlib))],
  ['br', () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
  ['zstd', () => createZstdDecompress({ flush: constants.ZSTD_e_flush })],
])

/** The coding of an answer's bytes, if they are packed. */
export function codingOf(headers: Readonly<Record<string, string>>): string | undefined {
  const named = headers['content-encoding']
  if (named === undefined) return undefined
  const coding = named.trim().toLowerCase()
  return coding === '' || coding === 'identity' ? undefined : coding
}

/** Unpacks the bytes of one answer as they come, no faster than they are read. */
export class Unpacking {
  readonly #unpack: Unpack
  readonly #to: Unpacked
  #stream: Transform | undefined

  private constructor(unpack: Unpack, to: Unpacked) {
    this.#unpack = unpack
    this.#to = to
  }

  /** Undefined for a coding that is not known. */
  static of(coding: string, to: Unpacked): Unpacking | undefined {
    const unpack = unpacks.get(coding)
    return unpack && new Unpacking(unpack, to)
  }

  /** Takes packed bytes; false when that is enough until `drained`. */
  write(bytes: Buffer): boolean {
    this.#stream ??= this.#open(bytes)
    return this.#stream.write(bytes)
  }

  /** All packed bytes have come. */
  end(): void {
    if (this.#stream) this.#stream.end()
    else this.#to.end()
  }

  pause(): void {
    this.#stream?.pause()
  }

  resume(): void {
    this.#stream?.resume()
  }

  /** Stops unpacking without a message. */
  stop(): void {
    this.#stream?.destroy()
  }

  #open(first: Buffer): Transform {
    const { data, end, failed, drained } = this.#to
    const stream = this.#unpack(first)
    stream.on('data', contain('a packed answer', data))
    stream.on('end', contain('a packed answer', end))
    stream.on('error', contain('a packed answer', failed))
    stream.on('drain', contain('a packed answer', drained))
    return stream
  }
}
