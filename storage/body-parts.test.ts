import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { BodyParts } from './body-parts.ts'
import { collect, withEngine } from './conformance/harness.ts'
import type { Collection, Store } from './index.ts'
import { openLevel } from './level.ts'

const partBytes = 64 * 1024

/** Bytes that are others at every place. */
function bytesOf(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size; at++) bytes[at] = (at * 7 + (at >> 8) * 13) & 255
  return bytes
}

async function* inPieces(bytes: Buffer, piece = 10_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
}

/** Where the parts lie. */
const partsIn = (store: Store): Collection<string> => store.collection('parts', { schema: z.string() })
const idsIn = async (store: Store): Promise<string[]> =>
  (await collect(partsIn(store).scan())).map(([id]) => id)

const withParts = (run: (parts: BodyParts, store: Store) => Promise<void>): Promise<void> =>
  withEngine(openLevel, ({ engine }) => run(new BodyParts(engine), engine))

const read = async (parts: BodyParts, size: number, from?: number, to?: number): Promise<Buffer> =>
  Buffer.concat(await collect(parts.read({ upload: 'u', size }, from, to)))

test('bytes lie in parts of 64 KB, numbered in their order, however they came', () =>
  withParts(async (parts, store) => {
    for (const [size, piece, count] of [
      [0, 1, 0],
      [1, 1, 1],
      [partBytes, partBytes, 1],
      [partBytes + 1, 30_000, 2],
      [3 * partBytes, 200_000, 3],
    ] as const) {
      const bytes = bytesOf(size)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      expect(await parts.write('u', inPieces(bytes, piece))).toEqual({ size, sha256 })
      expect(await idsIn(store)).toEqual(Array.from({ length: count }, (_, n) => `u/00000000${n}`))
      expect((await read(parts, size)).equals(bytes)).toBe(true)
      await parts.delete('u')
    }
  }))

test('a range is read from the part in which it begins, and no further than its end', () =>
  withParts(async (parts, store) => {
    const size = 3 * partBytes + 100
    const bytes = bytesOf(size)
    await parts.write('u', inPieces(bytes))
    const scan = vi.spyOn(partsIn(store), 'scan')
    for (const [from, to] of [
      [0, 1],
      [partBytes - 1, partBytes + 1],
      [partBytes, 2 * partBytes],
      [2 * partBytes + 5, 2 * partBytes + 5],
      [3 * partBytes, size],
      [5, 2 * size],
      [size, 2 * size],
      [20, 10],
    ] as const)
      expect((await read(parts, size, from, to)).equals(bytes.subarray(from, to))).toBe(true)
    expect(scan.mock.calls.map(([range]) => [range?.from, range?.to])).toEqual(
      [
        [0, 1],
        [0, 2],
        [1, 2],
        [3, 4],
        [0, 4],
      ].map((range) => range.map((n) => `u/00000000${n}`)),
    )
  }))

test('what was deleted, in whole or in part, is gone and not read as less', () =>
  withParts(async (parts, store) => {
    const size = 3 * partBytes
    const gone = { code: 'BODY_GONE' }
    await expect(read(parts, size)).rejects.toMatchObject(gone)
    for (const n of [0, 1, 2]) {
      await parts.write('u', inPieces(bytesOf(size)))
      await partsIn(store).delete(`u/00000000${n}`)
      const found: Uint8Array[] = []
      const reading = (async () => {
        for await (const bytes of parts.read({ upload: 'u', size })) found.push(bytes)
      })()
      await expect(reading).rejects.toMatchObject(gone)
      expect(found).toHaveLength(n)
    }
  }))

test('a few parts are written at a time', () =>
  withParts(async (parts, store) => {
    const collection = partsIn(store)
    const { put } = collection
    let now = 0
    let most = 0
    vi.spyOn(collection, 'put').mockImplementation(async (id, part) => {
      now += 1
      most = Math.max(most, now)
      await put.call(collection, id, part)
      now -= 1
    })
    await parts.write('u', inPieces(bytesOf(40 * partBytes), partBytes))
    expect([most, now, (await idsIn(store)).length]).toEqual([16, 0, 40])
  }))

test('a write that fails is over when it says so', () =>
  withParts(async (parts, store) => {
    const source = async function* () {
      yield bytesOf(5 * partBytes)
      throw new Error('the source fails')
    }
    await expect(parts.write('u', source())).rejects.toThrow('the source fails')
    expect(await idsIn(store)).toHaveLength(5)
    vi.spyOn(partsIn(store), 'put').mockRejectedValueOnce(new Error('the disk is away'))
    await expect(parts.write('v', inPieces(bytesOf(20 * partBytes)))).rejects.toThrow('the disk is away')
    const ids = await idsIn(store)
    await store.flush()
    expect(await idsIn(store)).toEqual(ids)
  }))

test('all parts of an upload are deleted, eight at a time, whatever is missing, and no others', () =>
  withParts(async (parts, store) => {
    const collection = partsIn(store)
    for (const n of [0, 7, 8, 30, 31, 60]) await collection.put(`u/${String(n).padStart(9, '0')}`, '')
    for (const id of ['t/000000000', 'u2/000000000', 'v/000000000']) await collection.put(id, '')
    const deleted = vi.spyOn(collection, 'delete')
    await parts.delete('u')
    expect(await idsIn(store)).toEqual(['t/000000000', 'u2/000000000', 'v/000000000'])
    expect(deleted).toHaveBeenCalledTimes(4 * 8)
    await parts.delete('none')
    expect(deleted).toHaveBeenCalledTimes(4 * 8)
  }))
