import { getEventListeners } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { RowWaits } from './row-waits.ts'

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-row-waits-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

test('who has waited leaves nothing on the signal, which may be that of much other work', async () => {
  const rows = engine.collection('rows', { schema: z.object({ isOver: z.boolean() }) })
  const waits = new RowWaits(rows, ({ isOver }) => isOver)
  const { signal } = new AbortController()
  await rows.put('a', { isOver: false })
  const waited = waits.until('a', 60_000, signal)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  await rows.put('a', { isOver: true })
  await waited
  expect(getEventListeners(signal, 'abort')).toEqual([])
  waits.close()
})
