import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import type { StoreProblem } from '../index.ts'
import type { Backing } from './backing.ts'
import type { Change } from './block.ts'
import { Gate } from './gate.ts'
import { type Database, GroupCommit } from './group-commit.ts'

/** The surroundings of a part, on a disk of its own. */
export interface Backed {
  readonly folder: string
  readonly database: Database
  readonly backing: Backing
  /** What was reported. */
  readonly problems: StoreProblem[]
  write(changes: readonly Change[]): Promise<void>
}

/** Runs a test with a database that is closed, and whose folder is gone, when the test is over. */
export async function withBacking(run: (backed: Backed) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'backing-'))
  const database = new Level<string, string>(folder)
  await database.open()
  const problems: StoreProblem[] = []
  const report = (problem: StoreProblem): void => void problems.push(problem)
  const writer = new GroupCommit(database)
  const backing: Backing = { database, writer, gate: new Gate(), report }
  try {
    await run({
      folder,
      database,
      backing,
      problems,
      async write(changes) {
        for (const [key, value] of changes)
          if (value === undefined) writer.delete(key)
          else writer.put(key, value)
        await writer.commit(false)
      },
    })
  } finally {
    await database.close()
    await rm(folder, { recursive: true })
  }
}
