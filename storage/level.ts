import { Level } from 'level'
import { StoreError } from './errors.ts'
import type { Disagreement, Engine, StoreHealth, StoreProblem } from './index.ts'
import { compare } from './level/consistency.ts'
import { copyDatabase } from './level/copy.ts'
import { damaged, isCorruption, isLockRefusal, locked } from './level/damage.ts'
import { isBeheaded } from './level/files/examine.ts'
import { mendWriteAhead } from './level/files/repair.ts'
import { Gate } from './level/gate.ts'
import { type Database, GroupCommit } from './level/group-commit.ts'
import type { LogFormat } from './level/log-blocks.ts'
import { openKey, Parts, storeAt } from './level/parts.ts'
import { reasonOf } from './level/reason.ts'
import { Recovery } from './level/recovery.ts'
import { checkVersion, storeVersion, versionKey } from './level/version.ts'

export { isLocked } from './level/files/lock.ts'
export { examine, repairFiles } from './level/files/repair.ts'
export { checkSums } from './level/sums.ts'
export { checkRows } from './level/unfit-rows.ts'

export interface LevelOptions {
  /** Called once for each problem that the store noticed and survived. */
  readonly report?: (problem: StoreProblem) => void
  /** Called when the store begins to refuse writes, when the reason changes, and when it takes writes again. */
  readonly changed?: (health: StoreHealth) => void
  /** Called when the last run did not close the store, after data that is kept twice was put right. */
  readonly unclean?: () => void
  /** Rows a chunk and rows a block, a multiple of it and at most 65,536, of logs that do not exist yet. */
  readonly logFormat?: LogFormat
}

/** Two write buffers are in memory while one is written out. Smaller ones make the engine slow writers down sooner. */
const tuning = { writeBufferSize: 4 * 1024 * 1024, cacheSize: 8 * 1024 * 1024 }
const defaultFormat: LogFormat = { chunkRows: 32, blockRows: 2048 }
const problemsKept = 1000

/** Opens, or makes, the LevelDB in this folder. One process at a time can have it open: `STORE_LOCKED` for others. */
export async function openLevel(folder: string, options: LevelOptions = {}): Promise<Engine> {
  const { report: tell = () => {}, unclean = () => {}, logFormat: format = defaultFormat } = options
  const database = await openDatabase(folder, { format, report: tell, unclean })
  const report = once(tell)
  const gate = new Gate()
  const writer = new GroupCommit(database, (failure) => recovery.begin(failure))
  const recovery = new Recovery({ folder, database, writer, gate, changed: options.changed ?? (() => {}) })
  const backing = { database, writer, gate, report }
  const parts = new Parts(backing, format)
  let closed: Promise<void> | undefined
  return {
    name: 'level',
    ...storeAt(parts, ''),
    contents: (prefix) => parts.contents(prefix),
    erase: (prefix) => parts.erase(prefix),
    compact: () => backing.gate.run(() => backing.writer.compact({ gte: '\0', lt: '\uffff' })),
    async copyTo(folder) {
      await parts.flush('')
      await copyDatabase(backing, folder)
    },
    close() {
      closed ??= parts.close(() => recovery.end())
      return closed
    },
  }
}

/**
 * Compares the data that the store in a folder keeps twice, as an open after an unclean end does. `repair` puts it right by the
 * rows. No process may have the store open.
 */
export async function checkAgreement(
  folder: string,
  { repair }: { readonly repair: boolean },
): Promise<Disagreement[]> {
  const database: Database = new Level<string, string>(folder, tuning)
  try {
    await database.open()
    await checkVersion(database, folder)
    return await compare(database, defaultFormat, { repair })
  } catch (cause) {
    throw openError(folder, cause)
  } finally {
    await database.close().catch(() => {})
  }
}

interface Opening {
  readonly format: LogFormat
  readonly report: (problem: StoreProblem) => void
  readonly unclean: () => void
}

async function openDatabase(folder: string, opening: Opening): Promise<Database> {
  const { report } = opening
  if (await isBeheaded(folder)) throw damaged(`The database in ${folder}`, new Error('CURRENT is missing'))
  for (const { file, found, lost } of await mendWriteAhead(folder)) {
    const message = `In a write-ahead file ${found}. Lost: ${lost}. A copy of the file is in lost.`
    report({ code: 'STORE_DAMAGED', part: file, message })
  }
  const database: Database = new Level<string, string>(folder, tuning)
  try {
    await database.open()
    await checkVersion(database, folder)
    await settle(database, opening)
    return database
  } catch (cause) {
    await database.close().catch(() => {})
    throw openError(folder, cause)
  }
}

/** After an end that was no close, puts right what disagrees, and says so. From now on, such an end is noticed. */
async function settle(database: Database, { format, report, unclean }: Opening): Promise<void> {
  if ((await database.get(openKey)) !== undefined) {
    for (const { part, found, canBeMended } of await compare(database, format, { repair: true })) {
      const message = canBeMended
        ? `After an unclean end, put right by the rows: ${found}.`
        : `After an unclean end: ${found}. It cannot be put right.`
      report({ code: 'STORE_DAMAGED', part, message })
    }
    unclean()
  }
  const marks = [
    { type: 'put', key: openKey, value: '' },
    { type: 'put', key: versionKey, value: `${storeVersion}` },
  ] as const
  await database.batch([...marks], { sync: true })
}

function openError(folder: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  if (isLockRefusal(cause)) return locked(folder, cause)
  if (isCorruption(cause)) return damaged(`The database in ${folder}`, cause)
  return new StoreError(
    'STORE_FAILED',
    `The database in ${folder} cannot be opened (${reasonOf(cause)}).`,
    cause,
  )
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
