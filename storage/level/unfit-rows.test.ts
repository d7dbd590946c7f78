import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import type { LogOptions, UnfitRow } from '../index.ts'
import { checkAgreement, checkRows, openLevel } from '../level.ts'
import { encodeLines, largestInlineBody } from './chunk.ts'
import { LogKeys } from './log-keys.ts'

interface Call {
  readonly id: string
  readonly at: number
  readonly how: 'fits' | 'mendable' | 'lost'
}

const options: LogOptions<Call> = {
  id: ({ id }) => id,
  time: ({ at }) => at,
  fields: { how: ({ how }) => how },
}
const format = { chunkRows: 4, blockRows: 8 }

const fit = (row: unknown): unknown => {
  const { how } = row as Call
  return how === 'fits' ? row : how === 'mendable' ? { ...(row as Call), how: 'fits' } : undefined
}

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'unfit-'))
  await run(folder).finally(() => rm(folder, { recursive: true, force: true }))
}

const aCall = fc.record({
  how: fc.constantFrom('fits' as const, 'mendable' as const, 'lost' as const),
  body: fc.constantFrom(undefined, 'short', 'x'.repeat(largestInlineBody + 1)),
})

const large = 'x'.repeat(largestInlineBody + 1)
type Row = typeof aCall extends fc.Arbitrary<infer T> ? T : never
const rowsOf = (hows: string, body: string | undefined): Row[] =>
  [...hows].map((how) => ({ how: how === 'f' ? 'fits' : how === 'm' ? 'mendable' : 'lost', body }))

/** A block of which nothing is left, one of which some is, one that fits, an open one, and one with a chunk of nothing. */
const histories: Row[][] = [
  [
    ...rowsOf('llllllll', large),
    ...rowsOf('fmlffmlf', large),
    ...rowsOf('ffffffff', 'short'),
    ...rowsOf('lmf', 'short'),
  ],
  [...rowsOf('ffffffff', undefined), ...rowsOf('lfffffff', 'short'), ...rowsOf('llllllll', 'short')],
  [...rowsOf('llllffff', 'short'), ...rowsOf('f', undefined)],
]

test('rows that do not fit are kept as they were and mended or deleted, and all others stay', () =>
  fc.assert(
    fc.asyncProperty(fc.array(aCall, { maxLength: 40 }), (calls) =>
      inFolder(async (folder) => {
        const rows = calls.map(({ how }, n): Call => ({ id: `c${n}`, at: n, how }))
        const before = await openLevel(folder, { logFormat: format })
        const log = before.log('calls', options)
        for (const [n, row] of rows.entries()) log.append(row, () => calls[n]!.body)
        await before.close()

        const counts = {
          mended: rows.filter(({ how }) => how === 'mendable').length,
          lost: rows.filter(({ how }) => how === 'lost').length,
        }
        expect(await checkRows(folder, 'calls', { fit })).toEqual(counts)
        const kept: UnfitRow[] = []
        const keep = async (some: readonly UnfitRow[]): Promise<void> => void kept.push(...some)
        expect(await checkRows(folder, 'calls', { fit, keep })).toEqual(counts)
        expect(kept).toEqual(
          rows.flatMap((row, n) => {
            const { body } = calls[n]!
            return row.how === 'fits' ? [] : [{ line: JSON.stringify(row), ...(body && { body }) }]
          }),
        )
        expect(await checkRows(folder, 'calls', { fit })).toEqual({ mended: 0, lost: 0 })

        const after = await openLevel(folder)
        const again = after.log('calls', options)
        await again.prepare()
        const left = rows.filter(({ how }) => how !== 'lost')
        const fitting = left.map((row) => ({ ...row, how: 'fits' })).toReversed()
        expect(await again.list()).toMatchObject({ items: fitting, total: fitting.length })
        expect((await again.list({ where: { how: 'fits' } })).total).toBe(fitting.length)
        for (const [n, { id, how }] of rows.entries())
          expect(await again.body(id)).toBe(how === 'lost' ? undefined : calls[n]!.body)
        again.append({ id: 'late', at: 100, how: 'fits' })
        expect((await again.list()).total).toBe(fitting.length + 1)
        await after.close()
        expect(await checkAgreement(folder, { repair: false })).toEqual([])
      }),
    ),
    { ...runs(8), examples: histories.map((history): [typeof history] => [history]) },
  ))

test('a line that is no JSON is kept and goes, and one that was empty is none', () =>
  inFolder(async (folder) => {
    const engine = await openLevel(folder, { logFormat: format })
    const log = engine.log('calls', options)
    for (let n = 0; n < 3; n++) log.append({ id: `c${n}`, at: n, how: 'fits' })
    await engine.close()
    const database = new Level<string, string>(folder)
    const stored = encodeLines(['{"id":"c0', '', JSON.stringify({ id: 'c2', at: 2, how: 'fits' })])
    await database.put(new LogKeys('calls').rows(0), stored as string)
    await database.close()
    const kept: UnfitRow[] = []
    const keep = async (some: readonly UnfitRow[]): Promise<void> => void kept.push(...some)
    expect(await checkRows(folder, 'calls', { fit, keep })).toEqual({ mended: 0, lost: 1 })
    expect(kept).toEqual([{ line: '{"id":"c0' }])
    const after = await openLevel(folder)
    expect(await after.log('calls', options).list()).toMatchObject({ items: [{ id: 'c2' }], total: 1 })
    await after.close()
  }))

test('what cannot be kept is not touched', () =>
  inFolder(async (folder) => {
    const engine = await openLevel(folder, { logFormat: format })
    engine.log('calls', options).append({ id: 'c0', at: 0, how: 'lost' })
    await engine.close()
    const keep = async (): Promise<void> => {
      throw new Error('the disk is full')
    }
    await expect(checkRows(folder, 'calls', { fit, keep })).rejects.toThrow('full')
    expect(await checkRows(folder, 'calls', { fit })).toEqual({ mended: 0, lost: 1 })
    expect(await checkRows(folder, 'other', { fit })).toEqual({ mended: 0, lost: 0 })
  }))

test('a block of which no row is left leaves the disk when the log is used, and the others stay', () =>
  inFolder(async (folder) => {
    const engine = await openLevel(folder, { logFormat: format })
    const log = engine.log('calls', options)
    const hows = [...'llllllllfflfffff', 'l'].map((how) => (how === 'l' ? 'lost' : 'fits'))
    for (const [n, how] of hows.entries()) log.append({ id: `c${n}`, at: n, how }, () => large)
    await engine.close()
    await checkRows(folder, 'calls', { fit, keep: async () => {} })
    const after = await openLevel(folder)
    await after.log('calls', options).prepare()
    await after.close()
    const database = new Level<string, string>(folder)
    const keys = await database.keys({ gte: 'l/calls!', lt: 'l/calls"' }).all()
    await database.close()
    const of = (kinds: string) => keys.filter((key) => new RegExp(`^l/calls![${kinds}]`).test(key)).length
    // One index, the chunks of its block and the open one, and a large body for each row that is left.
    expect([of('h'), of('i'), of('t'), of('p'), of('r'), of('b'), of('y')]).toEqual([1, 1, 1, 1, 3, 2, 7])
  }))
