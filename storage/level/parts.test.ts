import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { type Event, eventOptions } from './crash-parts.ts'
import { Gate } from './gate.ts'
import { type Database, GroupCommit } from './group-commit.ts'
import { Parts } from './parts.ts'

test('what runs when the gate is held can end, however many parts it looks into', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parts-'))
  const database: Database = new Level<string, string>(folder)
  await database.open()
  const gate = new Gate()
  const backing = { database, writer: new GroupCommit(database), gate, report: () => {} }
  const parts = new Parts(backing, { chunkRows: 4, blockRows: 16 })
  const log = parts.log<Event>('events', eventOptions)
  log.append({ id: 'e', at: 1, kind: 'k' })
  await log.flush()
  const running = parts.contents('')
  const held = gate.hold()
  expect(await running).toEqual([{ kind: 'log', path: 'events', entries: 1 }])
  await held
  gate.release()
  await parts.close(async () => {})
  await rm(folder, { recursive: true })
})
