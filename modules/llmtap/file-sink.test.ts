import { appendFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { FileSink } from './file-sink.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-tap-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

const sinkOf = (maxBytes: number, keep: number) => new FileSink({ folder, name: 'calls', maxBytes, keep })

const line = (n: number, user = 'ada'): string => `${JSON.stringify({ n, user_id: user })}\n`

/** All lines, the oldest first. */
async function written(): Promise<number[]> {
  const files = (await readdir(folder)).sort(
    (a, b) => Number(b.split('.')[1]?.replace('jsonl', '0')) - Number(a.split('.')[1]?.replace('jsonl', '0')),
  )
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')))
  return texts.flatMap((text) => text.trimEnd().split('\n').filter(Boolean)).map((one) => JSON.parse(one).n)
}

const step = fc.record({ lines: fc.integer({ min: 1, max: 4 }), dies: fc.boolean(), torn: fc.nat(20) })

test('whatever is killed behind a write that was not accounted for, each line is there once and whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.integer({ min: 30, max: 200 }),
      async (steps, maxBytes) => {
        await rm(folder, { recursive: true, force: true })
        folder = await mkdtemp(path.join(tmpdir(), 'switchyard-tap-'))
        let next = 0
        let sink = sinkOf(maxBytes, 100)
        await sink.open(undefined)
        let { mark } = sink
        for (const { lines, dies, torn } of steps) {
          const batch = Array.from({ length: lines }, (_, n) => line(next + n))
          await sink.write(batch)
          if (dies) {
            const present = path.join(folder, 'calls.jsonl')
            const text = await readFile(present, 'utf8')
            await writeFile(present, text + line(999).slice(0, torn))
            sink = sinkOf(maxBytes, 100)
            await sink.open(mark)
          } else {
            mark = sink.mark
            next += lines
          }
        }
        expect(await written()).toEqual(Array.from({ length: next }, (_, n) => n))
      },
    ),
    runs(30),
  )
})

test('a folder that was copied, such as a backup, keeps its lines, but for those that were not accounted for', async () => {
  const before = sinkOf(1000, 5)
  await before.write([line(1), line(2)])
  await appendFile(path.join(folder, 'calls.jsonl'), line(3))
  const original = folder
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-tap-'))
  await cp(original, folder, { recursive: true })
  const sink = sinkOf(1000, 5)
  await sink.open(before.mark)
  await rm(original, { recursive: true })
  await sink.write([line(4)])
  expect(await written()).toEqual([1, 2, 4])
})

test('a full file makes room for a new one, and the oldest is deleted', async () => {
  const sink = sinkOf(60, 2)
  for (let n = 0; n < 12; n += 1) await sink.write([line(n)])
  expect((await readdir(folder)).sort()).toEqual(['calls.1.jsonl', 'calls.2.jsonl', 'calls.jsonl'])
  expect(await written()).toEqual([6, 7, 8, 9, 10, 11])
})

test('lines of a user are counted and deleted in all files, and no other', async () => {
  const sink = sinkOf(60, 5)
  for (let n = 0; n < 8; n += 1) await sink.write([line(n, n % 2 === 0 ? 'ada' : 'bob')])
  expect(await sink.countOf('ada')).toBe(4)
  expect(await sink.eraseOf('ada')).toBe(4)
  expect(await sink.countOf('ada')).toBe(0)
  await sink.write([line(8, 'bob')])
  expect(await written()).toEqual([1, 3, 5, 7, 8])
})

test('a line ends at a line feed alone: other separators in texts neither hide it nor break it', async () => {
  const of = (n: number, user: string) =>
    `${JSON.stringify({ n, text: 'one\u2028two\u2029three\u0085four', user_id: user })}\n`
  const sink = sinkOf(1000, 5)
  await sink.write([of(1, 'ada'), of(2, 'bob'), of(3, 'ada')])
  expect(await sink.countOf('ada')).toBe(2)
  expect(await sink.eraseOf('ada')).toBe(2)
  expect(await readFile(path.join(folder, 'calls.jsonl'), 'utf8')).toBe(of(2, 'bob'))
})

test('files that are more than are kept by now are counted and deleted, too', async () => {
  const before = sinkOf(60, 5)
  for (let n = 0; n < 8; n += 1) await before.write([line(n, n % 2 === 0 ? 'ada' : 'bob')])
  const sink = sinkOf(60, 1)
  expect(await sink.countOf('ada')).toBe(4)
  expect(await sink.eraseOf('ada')).toBe(4)
})
