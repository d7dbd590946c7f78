import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { collect, withEngine } from './conformance/harness.ts'
import type { Collection, Engine, Transaction } from './index.ts'
import { openLevel } from './level.ts'

const leaseMs = 1000
const start = Date.parse('2026-01-01T00:00:00.000Z')
const loose = { schema: z.object({ aliveAt: z.number() }) }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: start })
})

afterEach(() => {
  vi.useRealTimers()
})

const filesOf = (engine: Engine) => engine.bodies('files', { leaseMs })
/** The uploads that are no bodies, or not yet, or not any more. */
const looseIn = (engine: Engine): Collection<{ aliveAt: number }> =>
  engine.namespace('bodies').namespace('files').collection('loose', loose)
const headsIn = (engine: Engine): Collection<unknown> =>
  engine.namespace('bodies').namespace('files').collection('heads', { schema: z.unknown() })
/** How many rows all bodies take up: one for each, and one for each part. */
const rowsIn = async (engine: Engine): Promise<number> =>
  (await engine.contents('bodies/')).reduce((sum, { entries }) => sum + entries, 0)

async function* bytes(size = 10): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(size, 'b')
}

/** An upload that goes on when it is told to. */
async function slowly(engine: Engine) {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const source = async function* () {
    yield* bytes(100_000)
    begun.resolve()
    await gate.promise
  }
  const written = filesOf(engine).write('slow', source())
  written.catch(() => {})
  await begun.promise
  const [[upload = ''] = []] = await collect(looseIn(engine).scan())
  return { written, upload, goOn: () => gate.resolve() }
}

test('a body is read in whole or in part until it is deleted, with what else goes then', () =>
  withEngine(openLevel, async ({ engine }) => {
    const files = filesOf(engine)
    const notes = engine.collection('notes', loose)
    const facts = await files.write('one', bytes(10), (transaction) =>
      transaction.put(notes, 'one', { aliveAt: start }),
    )
    const body = (await files.get('one'))!
    expect(body).toEqual({ ...facts, read: expect.any(Function) })
    expect(Buffer.concat(await collect(body.read(2, 5))).toString()).toBe('bbb')
    const alsoDelete = vi.fn((transaction: Transaction) => transaction.delete(notes, 'one'))
    expect(await files.delete('one', alsoDelete)).toBe(true)
    expect([await files.get('one'), await notes.get('one'), await rowsIn(engine)]).toEqual([
      undefined,
      undefined,
      0,
    ])
    expect(await files.delete('one', alsoDelete)).toBe(false)
    expect(alsoDelete).toHaveBeenCalledOnce()
  }))

test('the source of a body without a usable id is not read', () =>
  withEngine(openLevel, async ({ engine }) => {
    let read = false
    const source = async function* () {
      read = true
      yield* bytes()
    }
    await expect(filesOf(engine).write('', source())).rejects.toMatchObject({ code: 'ID_INVALID' })
    expect([read, await rowsIn(engine)]).toEqual([false, 0])
  }))

test('an upload says that it is alive four times in a lease, and outlives it', () =>
  withEngine(openLevel, async ({ engine }) => {
    const { written, upload, goOn } = await slowly(engine)
    for (let ms = leaseMs / 4; ms <= 2 * leaseMs; ms += leaseMs / 4) {
      vi.advanceTimersByTime(leaseMs / 4)
      // What waits is written together, so that this is not there before the other.
      await looseIn(engine).put('tick', { aliveAt: start })
      expect(await looseIn(engine).get(upload)).toEqual({ aliveAt: start + ms })
    }
    await filesOf(engine).write('other', bytes())
    goOn()
    expect(await written).toMatchObject({ size: 100_000 })
    expect(vi.getTimerCount()).toBe(0)
    expect(await rowsIn(engine)).toBe(5)
  }))

test('an upload that another process takes for dead is refused, and is not alive again', () =>
  withEngine(openLevel, async ({ engine }) => {
    const { written, upload, goOn } = await slowly(engine)
    await looseIn(engine).put(upload, { aliveAt: 0 })
    vi.advanceTimersByTime(leaseMs)
    await looseIn(engine).put('after', { aliveAt: start })
    expect(await looseIn(engine).get(upload)).toEqual({ aliveAt: 0 })
    goOn()
    await expect(written).rejects.toMatchObject({ code: 'REQUIREMENT_FAILED' })
    expect(vi.getTimerCount()).toBe(0)
    expect((await collect(looseIn(engine).scan())).map(([id]) => id)).toEqual(['after'])
  }))

test('an upload whose row another process has deleted gets no new one', () =>
  withEngine(openLevel, async ({ engine }) => {
    const { written, upload, goOn } = await slowly(engine)
    await looseIn(engine).delete(upload)
    vi.advanceTimersByTime(leaseMs)
    await looseIn(engine).put('after', { aliveAt: start })
    expect((await collect(looseIn(engine).scan())).map(([id]) => id)).toEqual(['after'])
    goOn()
    await expect(written).rejects.toMatchObject({ code: 'REQUIREMENT_FAILED' })
  }))

test('what dead uploads have left is deleted once in a lease, when another body is written', () =>
  withEngine(openLevel, async ({ engine }) => {
    const files = filesOf(engine)
    const left = looseIn(engine)
    const leftAfter = async (ms: number): Promise<string[]> => {
      vi.setSystemTime(start + ms)
      await files.write('one', bytes())
      return (await collect(left.scan())).map(([id]) => id)
    }
    await left.put('old', { aliveAt: start - leaseMs - 1 })
    await left.put('silent', { aliveAt: start - leaseMs })
    expect(await leftAfter(0)).toEqual(['silent'])
    expect(await left.get('silent')).toEqual({ aliveAt: start - leaseMs })
    expect(await leftAfter(leaseMs - 1)).toEqual(['silent'])
    expect(await leftAfter(leaseMs)).toEqual([])
    await left.put('dead', { aliveAt: 0 })
    expect(await leftAfter(2 * leaseMs - 1)).toEqual(['dead'])
    expect(await leftAfter(2 * leaseMs)).toEqual([])
  }))

const ends: Readonly<Record<string, (engine: Engine) => Promise<unknown>>> = {
  replaced: (engine) => filesOf(engine).write('one', bytes(20)),
  deleted: (engine) => filesOf(engine).delete('one'),
}

test.for(Object.entries(ends))(
  'the bytes of a body that was %s by a process that ended then are deleted after a lease',
  ([, change]) =>
    withEngine(openLevel, async ({ engine, reopen }) => {
      await filesOf(engine).write('one', bytes(100_000))
      headsIn(engine).watch(() => void engine.close())
      await change(engine).catch(() => {})
      const again = await reopen()
      expect(await collect(looseIn(again).scan())).toEqual([[expect.any(String), { aliveAt: 0 }]])
      vi.setSystemTime(start + leaseMs)
      const before = (await filesOf(again).list()).total
      await filesOf(again).write('two', bytes())
      expect(await rowsIn(again)).toBe(2 * (before + 1))
    }),
)

test('the last page of a list names no next one', () =>
  withEngine(openLevel, async ({ engine }) => {
    for (const id of ['one', 'two']) await filesOf(engine).write(id, bytes())
    expect(Object.keys(await filesOf(engine).list())).toEqual(['items', 'total'])
    expect(await filesOf(engine).list({ limit: 1 })).toMatchObject({ total: 2, next: expect.any(String) })
  }))
