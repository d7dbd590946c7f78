import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Ended, type Run, runApart, runHere } from '../../test/commands.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-catalogue-'))
})

afterEach(() => rm(folder, { recursive: true }))

async function updateBy(run: Run, data: unknown, ...options: string[]): Promise<Ended> {
  const file = path.join(folder, 'given.json')
  await writeFile(file, typeof data === 'string' ? data : JSON.stringify(data))
  return run(folder, {}, 'catalogue', 'update', file, ...options)
}

const update = (data: unknown, ...options: string[]): Promise<Ended> => updateBy(runHere, data, ...options)

const written = path.join('data', 'catalogue.json')
const catalogue = (models: object) => ({
  format: 'switchyard-catalogue/1',
  source: 'a test',
  date: '2026-11-21',
  models,
})
const one = { operation: 'chat', context_window: 1000, usd_per_m: { input: 1, output: 2 } }

it('writes what a file says to the data folder, and tells what that changes', async () => {
  const models = catalogue({ 'a/one': one, 'a/two': one })
  const first = await updateBy(runApart, models, '--force', '--json')
  expect(first.code).toBe(0)
  expect(JSON.parse(first.out)).toMatchObject({ status: 'written', models: 2, source: 'a test' })

  const dearer = { ...one, usd_per_m: { input: 3, output: 2 } }
  const second = await update(catalogue({ 'a/one': dearer, 'a/three': one }))
  expect(second.code).toBe(0)
  expect(second.out).toContain('+ a/three\n- a/two\n~ a/one usd_per_m.input: 1 → 3\n')
  expect(second.out).toContain('1 models added, 1 removed, 1 changed; 2 in the file.')
  const kept = JSON.parse(await readFile(path.join(folder, written), 'utf8'))
  expect(Object.keys(kept.models)).toEqual(['a/one', 'a/three'])
})

it('changes nothing when it is only to look', async () => {
  const { code, out } = await update(catalogue({ 'a/one': one }), '--dry-run', '--force', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ status: 'checked' })
  expect(await readdir(folder)).toEqual(['given.json'])
})

it('refuses a broken file with a line for each mistake, and keeps what was there', async () => {
  await update(catalogue({ 'a/one': one }), '--force')
  const broken = catalogue({ 'a/one': { ...one, context_window: 'long', color: 'red' }, nameless: one })
  const { code, err } = await update(broken)
  expect(code).toBe(65)
  expect(err.trim().split('\n')).toHaveLength(3)
  expect(err).toContain('models › a/one › context_window')
  expect(JSON.parse(await readFile(path.join(folder, written), 'utf8')).models).toHaveProperty('a/one')

  const torn = await update('{"models": ', '--json')
  expect(torn.code).toBe(65)
  expect(JSON.parse(torn.out)).toMatchObject({
    status: 'refused',
    problems: [expect.stringMatching(/not JSON/)],
  })
})

it('adds to what came with the gateway, and takes nothing of it away', async () => {
  const { code, out } = await update(catalogue({ 'a/one': one }))
  expect(code).toBe(0)
  expect(out).toContain('1 models added, 0 removed, 0 changed; 1 in the file.')
})

it('refuses a file that lacks most of the last one, unless it is told to take it', async () => {
  await update(catalogue({ 'a/one': one, 'a/two': one, 'a/three': one }))
  const { code, err } = await update(catalogue({ 'a/one': one }))
  expect(code).toBe(65)
  expect(err).toMatch(/lacks 2 of the 3 models.*--force/)
  expect((await update(catalogue({ 'a/one': one }), '--force')).code).toBe(0)
})

it('refuses tiers that are out of order', async () => {
  const tiers = [
    { start: 200_000, price: 2 },
    { start: 100_000, price: 3 },
  ]
  const { code, err } = await update(
    catalogue({ 'a/one': { ...one, usd_per_m: { input: { base: 1, tiers } } } }),
  )
  expect([code, err]).toEqual([65, expect.stringContaining('must start at more tokens')])
})
