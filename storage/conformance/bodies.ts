import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Bodies, Engine } from '../index.ts'
import { collect, type OpenEngine, withEngine } from './harness.ts'

const partBytes = 64 * 1024
const Note = z.object({ size: z.number() })

/** Bytes that are others at every place, and for every seed. */
function bytesOf(size: number, seed = 0): Buffer {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; i++) bytes[i] = (i * 7 + (i >> 8) * 13 + seed * 31) & 255
  return bytes
}

async function* inPieces(bytes: Buffer, piece = 10_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece)
}

async function* failing(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes)
  throw new Error('the source fails')
}

async function contentOf(
  bodies: Bodies,
  id: string,
  from?: number,
  to?: number,
): Promise<Buffer | undefined> {
  const body = await bodies.get(id)
  return body && Buffer.concat(await collect(body.read(from, to)))
}

/** Rows and parts of rows that bodies of this name take up. */
const rowsOf = async (engine: Engine): Promise<number> =>
  (await engine.contents('bodies/')).reduce((sum, { entries }) => sum + entries, 0)

/** What every engine's bodies must do. */
export function bodyConformance(open: OpenEngine): void {
  describe('bodies', () => {
    test('come back as they were written, in whole and in part, however they came', () =>
      withEngine(open, async ({ engine }) => {
        const bodies = engine.bodies('files')
        const size = fc.oneof(
          fc.constantFrom(0, 1, partBytes - 1, partBytes, partBytes + 1, 3 * partBytes),
          fc.nat(5 * partBytes),
        )
        const piece = fc.constantFrom(7_001, partBytes, 200_000)
        await fc.assert(
          fc.asyncProperty(
            size,
            piece,
            fc.nat(5 * partBytes),
            fc.nat(5 * partBytes),
            async (size, piece, a, b) => {
              const bytes = bytesOf(size, piece)
              const sha256 = createHash('sha256').update(bytes).digest('hex')
              expect(await bodies.write('one', inPieces(bytes, piece))).toMatchObject({
                id: 'one',
                size,
                sha256,
              })
              expect(await bodies.get('one')).toMatchObject({ size, sha256 })
              expect((await contentOf(bodies, 'one'))?.equals(bytes)).toBe(true)
              const [from, to] = [Math.min(a, b), Math.max(a, b)]
              expect((await contentOf(bodies, 'one', from, to))?.equals(bytes.subarray(from, to))).toBe(true)
            },
          ),
          { numRuns: 15 },
        )
      }))

    test('are there after reopening, by their ids, and leave nothing when they are deleted', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const [one, two] = [bytesOf(200_000, 1), bytesOf(10, 2)]
        await engine.bodies('files').write('b', inPieces(one))
        await engine.bodies('files').write('a', inPieces(two))
        await engine.bodies('others').write('a', inPieces(one))
        const again = await reopen()
        const bodies = again.bodies('files')
        expect((await contentOf(bodies, 'b'))?.equals(one)).toBe(true)
        const first = await bodies.list({ limit: 1 })
        expect([first.total, first.items.map(({ id, size }) => [id, size])]).toEqual([2, [['a', 10]]])
        expect((await bodies.list({ after: first.next! })).items.map(({ id }) => id)).toEqual(['b'])
        expect([await bodies.delete('b'), await bodies.delete('b'), await bodies.get('b')]).toEqual([
          true,
          false,
          undefined,
        ])
        await bodies.delete('a')
        expect((await contentOf(again.bodies('others'), 'a'))?.equals(one)).toBe(true)
        await again.bodies('others').delete('a')
        expect(await rowsOf(again)).toBe(0)
      }))

    test('stay as they are until all of the next one is there, and for who has begun to read', () =>
      withEngine(open, async ({ engine }) => {
        const bodies = engine.bodies('files')
        const [before, after] = [bytesOf(900_000, 1), bytesOf(300_000, 2)]
        await bodies.write('one', inPieces(before))
        const gate = Promise.withResolvers<void>()
        const slow = bodies.write(
          'one',
          (async function* () {
            yield after.subarray(0, 200_000)
            await gate.promise
            yield after.subarray(200_000)
          })(),
        )
        expect((await contentOf(bodies, 'one'))?.equals(before)).toBe(true)
        const old = (await bodies.get('one'))!
        const reading = old.read()[Symbol.asyncIterator]()
        const parts = [(await reading.next()).value as Uint8Array]
        gate.resolve()
        await slow
        for (let next = await reading.next(); !next.done; next = await reading.next()) parts.push(next.value)
        expect(Buffer.concat(parts).equals(before)).toBe(true)
        await expect(collect(old.read())).rejects.toMatchObject({ code: 'BODY_GONE' })
        expect((await contentOf(bodies, 'one'))?.equals(after)).toBe(true)
        expect(await rowsOf(engine)).toBe(1 + Math.ceil(after.length / partBytes))
      }))

    test('that cannot be had whole are not there, and leave nothing', () =>
      withEngine(open, async ({ engine }) => {
        const bodies = engine.bodies('files')
        await expect(bodies.write('one', failing(bytesOf(500_000)))).rejects.toThrow('the source fails')
        expect(await bodies.get('one')).toBeUndefined()
        const before = bytesOf(10)
        await bodies.write('one', inPieces(before))
        await expect(bodies.write('one', failing(bytesOf(500_000)))).rejects.toThrow('the source fails')
        expect((await contentOf(bodies, 'one'))?.equals(before)).toBe(true)
        await expect(bodies.write('', inPieces(before))).rejects.toMatchObject({ code: 'ID_INVALID' })
        expect(await rowsOf(engine)).toBe(2)
      }))

    test('appear and go with what else is changed, or not at all', () =>
      withEngine(open, async ({ engine }) => {
        const bodies = engine.bodies('files')
        const notes = engine.collection('notes', { schema: Note })
        const refused = () => {
          throw new Error('refused')
        }
        await bodies.write('one', inPieces(bytesOf(100)), (tx, { id, size }) => tx.put(notes, id, { size }))
        expect(await notes.get('one')).toEqual({ size: 100 })
        const again = bodies.write('one', inPieces(bytesOf(200)), (tx, { size }) => {
          tx.put(notes, 'one', { size })
          refused()
        })
        await expect(again).rejects.toThrow('refused')
        await expect(bodies.delete('one', refused)).rejects.toThrow('refused')
        expect([await notes.get('one'), (await bodies.get('one'))?.size]).toEqual([{ size: 100 }, 100])
        await bodies.delete('one', (tx) => tx.delete(notes, 'one'))
        expect([await notes.get('one'), await bodies.get('one'), await rowsOf(engine)]).toEqual([
          undefined,
          undefined,
          0,
        ])
      }))

    test('of several writers at once are those of one of them, whole, and nothing is left of the others', () =>
      withEngine(open, async ({ engine }) => {
        const bodies = engine.bodies('files')
        const all = [1, 2, 3, 4, 5].map((seed) => bytesOf(100_000 + seed * 30_000, seed))
        await Promise.all(all.map((bytes) => bodies.write('one', inPieces(bytes))))
        const found = (await contentOf(bodies, 'one'))!
        expect(all.filter((bytes) => bytes.equals(found))).toHaveLength(1)
        expect(await rowsOf(engine)).toBe(1 + Math.ceil(found.length / partBytes))
      }))

    test('of which the writing was cut off are not there, and leave nothing once they count as dead', () =>
      withEngine(open, async ({ engine, reopen }) => {
        const half = Promise.withResolvers<void>()
        const cut = engine.bodies('files').write(
          'one',
          (async function* () {
            yield bytesOf(500_000)
            half.resolve()
            await new Promise((resolve) => setTimeout(resolve, 50))
            yield bytesOf(500_000)
          })(),
        )
        const refused = expect(cut).rejects.toMatchObject({ code: 'STORE_CLOSED' })
        await half.promise
        const again = await reopen()
        await refused
        expect(await again.bodies('files').get('one')).toBeUndefined()
        expect(await rowsOf(again)).toBeGreaterThan(1)
        await new Promise((resolve) => setTimeout(resolve, 20))
        const bodies = again.bodies('files', { leaseMs: 10 })
        await bodies.write('two', inPieces(bytesOf(1)))
        expect(await rowsOf(again)).toBe(2)
      }))

    test('that count as dead while they are written are refused, and the writing of others is not', () =>
      withEngine(open, async ({ engine }) => {
        const gate = Promise.withResolvers<void>()
        const begun = Promise.withResolvers<void>()
        const slow = engine.bodies('files').write(
          'one',
          (async function* () {
            yield bytesOf(100_000)
            begun.resolve()
            await gate.promise
          })(),
        )
        const refused = expect(slow).rejects.toMatchObject({ code: 'REQUIREMENT_FAILED' })
        await begun.promise
        await new Promise((resolve) => setTimeout(resolve, 20))
        await engine.bodies('files', { leaseMs: 10 }).write('two', inPieces(bytesOf(1)))
        gate.resolve()
        await refused
        expect([await engine.bodies('files').get('one'), await rowsOf(engine)]).toEqual([undefined, 2])
      }))
  })
}
