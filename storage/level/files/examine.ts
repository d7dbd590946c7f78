import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { tablesInUse } from './directory.ts'
import { type Gap, gapsIn } from './records.ts'
import { damageOf, type TableDamage } from './table.ts'

/** A file of a database that cannot be read in whole. */
export type DamagedFile =
  | { readonly file: string; readonly kind: 'write-ahead' | 'directory'; readonly gaps: readonly Gap[] }
  | { readonly file: string; readonly kind: 'table'; readonly blocks: TableDamage }

const table = /\.(ldb|sst)$/

/** Which files, by name, are tables that a database has no use for. None is where its directory cannot be read. */
export async function unusedTables(folder: string): Promise<(name: string) => boolean> {
  const inUse = await tablesInUse(folder)
  return (name) => inUse !== undefined && table.test(name) && !inUse.has(Number.parseInt(name, 10))
}

/** Checks the write-ahead files of a database by the checksums they have. */
export async function examineWriteAhead(folder: string): Promise<DamagedFile[]> {
  return damaged(folder, /\.log$/, (bytes, file) => {
    const gaps = gapsIn(bytes)
    return gaps.length > 0 && { file, kind: 'write-ahead', gaps }
  })
}

/** Whether a database lies here whose beginning is gone. LevelDB would take it for a new one, and delete what is there. */
export async function isBeheaded(folder: string): Promise<boolean> {
  const names = (await readdir(folder).catch(orGone)) ?? []
  return !names.includes('CURRENT') && names.some((name) => /\.(ldb|sst|log)$/.test(name))
}

/**
 * Checks all files of a database, but for tables that it has no use for. It reads all of it and changes nothing. No process should
 * write to it meanwhile.
 */
export async function examineFiles(folder: string): Promise<DamagedFile[]> {
  const directories = await damaged(folder, /^MANIFEST-/, (bytes, file) => {
    const gaps = gapsIn(bytes)
    return gaps.length > 0 && { file, kind: 'directory', gaps }
  })
  const isUnused = await unusedTables(folder)
  const tables = await damaged(folder, table, (bytes, file) => {
    if (isUnused(file)) return false
    const blocks = damageOf(bytes)
    return blocks.length > 0 && { file, kind: 'table', blocks }
  })
  return [...(await examineWriteAhead(folder)), ...directories, ...tables]
}

async function damaged(
  folder: string,
  names: RegExp,
  look: (bytes: Buffer, file: string) => DamagedFile | false,
): Promise<DamagedFile[]> {
  const found: DamagedFile[] = []
  const all = (await readdir(folder).catch(orGone)) ?? []
  for (const file of all.filter((name) => names.test(name)).sort()) {
    const bytes = await readFile(path.join(folder, file)).catch(orGone)
    const damage = bytes && look(bytes, file)
    if (damage) found.push(damage)
  }
  return found
}

/** A file that LevelDB has no use for any more is deleted at any time, and a new database has none. */
function orGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
