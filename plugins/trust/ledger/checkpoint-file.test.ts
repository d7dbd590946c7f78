import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Checkpoint, CheckpointFile } from './checkpoint-file.ts'

let folder: string
let at: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-checkpoint-file-'))
  at = path.join(folder, 'checkpoints.jsonl')
})

beforeEach(() => rm(at, { force: true }))

afterAll(() => rm(folder, { recursive: true, force: true }))

const checkpoint = (seq: number): Checkpoint => ({
  ledger: 'ldg_01M8JK82564GQQRHBRR6Q1FM00',
  seq,
  head_hash: 'a'.repeat(64),
  created_at: '2033-03-01T12:00:00.000Z',
  key_id: 'sig_1',
  signature: 's'.repeat(86),
})
const linesTo = (last: number): string =>
  Array.from({ length: last }, (_, n) => `${JSON.stringify(checkpoint(n + 1))}\n`).join('')
const begun = '{"ledger":"ldg_0'

test('the last one is found at the end, whatever a kill has left behind it', async () => {
  const file = new CheckpointFile(at)
  expect(await file.last()).toBeUndefined()
  for (const [count, rest] of [
    [0, ''],
    [0, begun],
    [1, ''],
    [1, begun],
    [200, ''],
    [200, begun],
  ] as const) {
    await writeFile(at, linesTo(count) + rest)
    expect(await file.last()).toEqual(count === 0 ? undefined : checkpoint(count))
    await file.add(checkpoint(count + 1))
    expect(await readFile(at, 'utf8')).toBe(linesTo(count + 1))
    expect(await file.read()).toHaveLength(count + 1)
  }
})

test('what lies far behind is not read to add another, and is named when all are read', async () => {
  const file = new CheckpointFile(at)
  await writeFile(at, `${linesTo(2)}damaged\n${linesTo(100)}`)
  expect(await file.last()).toEqual(checkpoint(100))
  await file.add(checkpoint(101))
  expect(await file.last()).toEqual(checkpoint(101))
  await expect(file.read()).rejects.toThrow('Line 3 ')
})

test.each([
  ['an empty line', '\n'],
  ['another line', 'text\n'],
  ['another beginning', 'text'],
  ['half a checkpoint', `${begun}\n`],
  ['a long line', `${'x'.repeat(20_000)}\n`],
  ['another line before the beginning of one', `{}\n${begun}`],
])('nothing is added to what does not end with a checkpoint: %s', async (_, end) => {
  const file = new CheckpointFile(at)
  for (const text of [end, linesTo(100) + end]) {
    await writeFile(at, text)
    await expect(file.last()).rejects.toThrow('no checkpoint')
    await expect(file.add(checkpoint(1))).rejects.toThrow('no checkpoint')
    expect(await readFile(at, 'utf8')).toBe(text)
  }
})
