import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chunkBytes, FileAltered, FileSeal, keyBytes, type Readable } from './file-seal.ts'

const seal = new FileSeal(randomBytes(keyBytes))
const sealedChunk = chunkBytes + 16
const saltBytes = 32

async function* cut(bytes: Uint8Array, every: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += every) yield bytes.subarray(at, at + every)
}

async function whole(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source))
}

/** What lies on disk, read in pieces of an odd size. */
const disk = (bytes: Buffer): Readable => ({
  size: bytes.length,
  read: (from = 0, to = bytes.length) => cut(bytes.subarray(from, to), 10_007),
})

const sealed = (bytes: Uint8Array, name = 'a', every = 5000) => whole(seal.seal(name, cut(bytes, every)))
const opened = async (bytes: Buffer, name = 'a') => whole((await seal.open(name, disk(bytes))).read())
const changed = (bytes: Buffer, ...parts: [from: number, to: number][]) =>
  Buffer.concat(parts.map(([from, to]) => bytes.subarray(from, to)))

/** Around the ends of chunks, and far from them. */
const size = fc.oneof(
  fc.integer({ min: 0, max: 2000 }),
  fc
    .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: -2, max: 2 }))
    .map(([n, by]) => n * chunkBytes + by),
)

test('a file of any size comes back whole, and in every range', async () => {
  const place = fc.double({ min: 0, max: 1, noNaN: true })
  await fc.assert(
    fc.asyncProperty(
      size,
      fc.integer({ min: 1, max: 200_000 }),
      place,
      place,
      async (length, every, one, other) => {
        const bytes = randomBytes(length)
        const stored = await sealed(bytes, 'a', every)
        const file = await seal.open('a', disk(stored))
        expect(file.size).toBe(length)
        expect((await whole(file.read())).equals(bytes)).toBe(true)
        const [from, to] = [one, other].map((share) => Math.round(share * length)).sort((a, b) => a - b)
        expect((await whole(file.read(from, to))).equals(bytes.subarray(from, to))).toBe(true)
      },
    ),
  )
})

test('a file whose end is cut off is refused before any of it is read', async () => {
  const bytes = randomBytes(2 * chunkBytes + 100)
  const stored = await sealed(bytes)
  const ends = [
    0,
    saltBytes,
    saltBytes + 5,
    saltBytes + sealedChunk,
    saltBytes + 2 * sealedChunk,
    stored.length - 1,
  ]
  for (const end of ends)
    await expect(seal.open('a', disk(stored.subarray(0, end))), `${end}`).rejects.toThrow(FileAltered)
})

test('a chunk that is altered, swapped or left out is an error, and never other bytes', async () => {
  const stored = await sealed(randomBytes(3 * chunkBytes + 100))
  const place = (n: number): [number, number] => [
    saltBytes + n * sealedChunk,
    saltBytes + (n + 1) * sealedChunk,
  ]
  const [salt, rest]: [number, number][] = [
    [0, saltBytes],
    [place(3)[0], stored.length],
  ]
  const flipped = Buffer.from(stored)
  flipped[saltBytes + 7]! ^= 1
  const wrong = {
    flipped,
    swapped: changed(stored, salt!, place(1), place(0), place(2), rest!),
    doubled: changed(stored, salt!, place(0), place(0), place(2), rest!),
    short: changed(stored, salt!, place(0), place(1), rest!),
    'of another salt': Buffer.concat([randomBytes(saltBytes), stored.subarray(saltBytes)]),
  }
  for (const [what, bytes] of Object.entries(wrong))
    await expect(opened(bytes), what).rejects.toThrow(FileAltered)
})

test('a file cannot pass for one of another name, or be read with another key', async () => {
  const stored = await sealed(Buffer.from('hers'), 'hers')
  await expect(opened(stored, 'his')).rejects.toThrow(FileAltered)
  await expect(new FileSeal(randomBytes(keyBytes)).open('hers', disk(stored))).rejects.toThrow(FileAltered)
  expect((await opened(stored, 'hers')).toString()).toBe('hers')
})

test('the same bytes lie on disk differently each time', async () => {
  const bytes = Buffer.from('the same')
  expect((await sealed(bytes)).equals(await sealed(bytes))).toBe(false)
})

test('a source that fails is no file that ends', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield randomBytes(chunkBytes + 5)
    throw new Error('gone')
  }
  await expect(whole(seal.seal('a', failing()))).rejects.toThrow('gone')
})
