import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Level } from 'level'
import type { FileDamage } from '../../index.ts'
import { isCorruption, locked } from '../damage.ts'
import type { Compactable, Database } from '../group-commit.ts'
import { reasonOf } from '../reason.ts'
import { describe } from './describe.ts'
import { type DamagedFile, examineFiles, examineWriteAhead, isBeheaded, unusedTables } from './examine.ts'
import { isLocked } from './lock.ts'
import { fillingOf } from './records.ts'
import { condemn } from './table.ts'

/** Where LevelDB, too, puts what it cannot use. */
const lost = 'lost'

/**
 * Has the next open skip what cannot be read in write-ahead files, and nothing else: LevelDB would skip up to 32 KB behind
 * it as well. Keeps a copy of such a file in `lost`, and says what was found.
 */
export async function mendWriteAhead(folder: string, now = new Date()): Promise<FileDamage[]> {
  const damaged = await examineWriteAhead(folder)
  if (damaged.length > 0) await refuseLocked(folder)
  for (const { file } of damaged) {
    await mkdir(path.join(folder, lost), { recursive: true })
    await copyFile(path.join(folder, file), path.join(folder, lost, `${file}.${stampOf(now)}`))
  }
  for (const one of damaged) await mend(folder, one)
  return damaged.map(describe)
}

/**
 * The damage in the files of a database that no process has open. Reads all of it. What seems whole is opened, by which LevelDB may
 * make tables of its write-ahead files; nothing else is written.
 */
export async function examine(folder: string): Promise<FileDamage[]> {
  if (await isBeheaded(folder)) return [beheaded, ...(await examineFiles(folder)).map(describe)]
  const found = (await examineFiles(folder)).map(describe)
  return found.length === 0 ? openingProblem(folder) : found
}

/** What only LevelDB knows of: tables that are gone. */
async function openingProblem(folder: string): Promise<FileDamage[]> {
  const database = new Level(folder)
  try {
    await database.open()
    await database.close()
    return []
  } catch (error) {
    if (!isCorruption(error)) throw error
    return [{ file: 'MANIFEST', found: reasonOf(error), lost: 'the content of missing files' }]
  }
}

const beheaded: FileDamage = {
  file: 'CURRENT',
  found: 'it is missing',
  lost: 'nothing, if the tables are whole: the directory is made again from them',
}

/**
 * Makes a database readable again that has damaged files, and gives up no more than what cannot be read. Everything is
 * copied to another folder first. No process may have it open.
 */
export async function repairFiles(folder: string, copy: string): Promise<FileDamage[]> {
  await refuseLocked(folder)
  const damaged = await examineFiles(folder)
  const found = await examine(folder)
  await cp(folder, copy, { recursive: true, errorOnExist: true, force: false })
  for (const one of damaged) await mend(folder, one)
  if (damaged.length === found.length && damaged.every(({ kind }) => kind === 'write-ahead')) return found
  await removeUnused(folder)
  await (Level as unknown as { repair(folder: string): Promise<void> }).repair(folder)
  // Repaired tables are in no order, and a single read could find an old value: compacting sorts them.
  const database: Database = new Level<string, string>(folder)
  await database.open()
  await (database as Database & Compactable).compactRange('\0', '\uffff')
  await database.close()
  return found
}

/**
 * Removes tables that the database has no use for, also where one that it uses is missing. LevelDB's repair would take all that lie
 * there, and rows would be back that were deleted or erased since.
 */
async function removeUnused(folder: string): Promise<void> {
  const unused = (await readdir(folder)).filter(await unusedTables(folder))
  await Promise.all(unused.map((name) => rm(path.join(folder, name))))
}

async function refuseLocked(folder: string): Promise<void> {
  if (await isLocked(folder)) throw locked(folder)
}

/** A time in the name of a file. */
const stampOf = (time: Date): string => time.toISOString().replaceAll(':', '-')

async function mend(folder: string, damaged: DamagedFile): Promise<void> {
  const file = path.join(folder, damaged.file)
  const bytes = await readFile(file)
  if (damaged.kind === 'write-ahead') for (const gap of damaged.gaps) fillingOf(gap).copy(bytes, gap.from)
  else if (damaged.kind === 'table' && damaged.blocks !== 'all')
    for (const block of damaged.blocks) condemn(bytes, block)
  else return
  await writeFile(file, bytes, { flush: true })
}
