import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { Learned, type Learner } from './learned.ts'

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-learned-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const row = z.strictObject({ calls: z.int() })

class Sum implements Learner<z.infer<typeof row>> {
  calls: number
  lastAt = 0
  version = 0
  constructor(calls = 0) {
    this.calls = calls
  }
  learn(at: number): this {
    this.calls += 1
    this.lastAt = at
    this.version += 1
    return this
  }
  pack() {
    return { calls: this.calls }
  }
}

const tenMinutes = 600_000
let parts = 0
const newPart = (): string => {
  parts += 1
  return `part-${parts}`
}
async function opened(most = 1000, part = newPart()) {
  const rows = engine.namespace(part).collection('sums', { schema: row })
  const learned = new Learned({ rows, most, unpack: ({ calls }) => new Sum(calls) })
  await learned.load()
  const stored = async () =>
    Object.fromEntries(await Array.fromAsync(rows.scan(), ([id, { calls }]) => [id, calls]))
  return { learned, stored, again: () => opened(most, part) }
}

test('what has learned is written at once, then every ten minutes, and at the end', async () => {
  const { learned, stored, again } = await opened()
  const one = learned.add('one', new Sum()).learn(1)
  await learned.write()
  expect(await stored()).toEqual({ one: 1 })
  one.learn(2)
  await learned.write(Date.now() + tenMinutes / 2)
  expect(await stored()).toEqual({ one: 1 })
  await learned.write(Date.now() + tenMinutes)
  expect(await stored()).toEqual({ one: 2 })
  one.learn(3)
  await learned.flush()
  const { learned: later, stored: then } = await again()
  expect(later.get('one')?.calls).toBe(3)
  later.get('one')!.learn(4)
  await later.flush()
  expect(await then()).toEqual({ one: 4 })
})

test('fifty are written in one go, and the others the next times', async () => {
  const { learned, stored } = await opened()
  for (let n = 0; n < 120; n += 1) learned.add(`n${n}`, new Sum()).learn(n)
  for (const count of [50, 100, 120]) {
    await learned.write()
    expect(Object.keys(await stored())).toHaveLength(count)
  }
})

test('of too many the least known go, from the disk too, however many new names come', async () => {
  const { learned, stored } = await opened(3)
  const known = learned.add('known', new Sum())
  for (let n = 0; n < 60; n += 1) known.learn(n)
  for (let n = 0; n < 10; n += 1) learned.add(`new${n}`, new Sum()).learn(100 + n)
  expect(Array.from(learned.entries(), ([name]) => name)).toEqual(['known', 'new8', 'new9'])
  await learned.flush()
  learned.add('last', new Sum()).learn(200)
  await learned.write()
  expect(Object.keys(await stored()).sort()).toEqual(['known', 'last', 'new9'])
})

test('what is deleted is gone from memory and disk', async () => {
  const { learned, stored } = await opened()
  learned.add('one', new Sum()).learn(1)
  await learned.flush()
  expect(await learned.delete('one')).toBe(true)
  expect(await learned.delete('one')).toBe(false)
  expect([learned.get('one'), await stored()]).toEqual([undefined, {}])
})

test('a name that no row can have keeps nothing else from being written', async () => {
  const { learned, stored } = await opened()
  for (const name of ['\ud800', 'a\0', 'x'.repeat(1025), 'one']) learned.add(name, new Sum()).learn(1)
  await learned.write()
  await learned.flush()
  expect(await stored()).toEqual({ one: 1 })
  expect(await learned.delete('\ud800')).toBe(true)
})
