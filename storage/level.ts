import { Level } from 'level'
import { StoreError } from './errors.ts'
import type { Engine, StoreHealth, StoreProblem } from './index.ts'
import { Gate } from './level/gate.ts'
import { GroupCommit } from './level/group-commit.ts'
import type { LogFormat } from './level/log-blocks.ts'
import { Parts, storeAt } from './level/parts.ts'
import { Recovery } from './level/recovery.ts'

export interface LevelOptions {
  /** Told once of each problem that the store noticed and survived. */
  readonly report?: (problem: StoreProblem) => void
  /** Told when the store begins to refuse writes, why it still does, and when it takes them again. */
  readonly changed?: (health: StoreHealth) => void
  /** Rows a chunk and rows a block, a multiple of it and at most 65,536, of logs that do not exist yet. */
  readonly logFormat?: LogFormat
}

const tuning = { writeBufferSize: 16 * 1024 * 1024, cacheSize: 16 * 1024 * 1024 }
const defaultFormat: LogFormat = { chunkRows: 32, blockRows: 2048 }
const problemsKept = 1000

/** Opens, or makes, the LevelDB in this folder. One process at a time can have it open: `STORE_LOCKED` for others. */
export async function openLevel(folder: string, options: LevelOptions = {}): Promise<Engine> {
  const database = new Level<string, string>(folder, tuning)
  try {
    await database.open()
  } catch (cause) {
    throw openError(folder, cause)
  }
  const report = once(options.report ?? (() => {}))
  const gate = new Gate()
  const writer = new GroupCommit(database, (failure) => recovery.begin(failure))
  const recovery = new Recovery({ folder, database, writer, gate, changed: options.changed ?? (() => {}) })
  const backing = { database, writer, gate, report }
  const parts = new Parts(backing, options.logFormat ?? defaultFormat)
  let closed: Promise<void> | undefined
  return {
    name: 'level',
    ...storeAt(parts, ''),
    contents: (prefix) => parts.contents(prefix),
    erase: (prefix) => parts.erase(prefix),
    compact: () => backing.gate.run(() => backing.writer.compact({ gte: '\0', lt: '\uffff' })),
    close() {
      closed ??= parts.close(() => recovery.end())
      return closed
    },
  }
}

function openError(folder: string, cause: unknown): StoreError {
  const inner = cause instanceof Error ? cause.cause : undefined
  if (inner instanceof Error && 'code' in inner && inner.code === 'LEVEL_LOCKED') {
    const message = `Another process has ${folder} open. Stop it, or choose another data folder.`
    return new StoreError('STORE_LOCKED', message, cause)
  }
  return new StoreError('STORE_FAILED', `The database in ${folder} cannot be opened.`, cause)
}

/** Passes on each problem of a place once, so that a damaged row does not fill the log of the process. */
function once(report: (problem: StoreProblem) => void): (problem: StoreProblem) => void {
  const seen = new Set<string>()
  return (problem) => {
    const place = JSON.stringify([problem.code, problem.part, problem.id])
    if (seen.has(place)) return
    if (seen.size >= problemsKept) seen.clear()
    seen.add(place)
    report(problem)
  }
}
