import { existsSync } from 'node:fs'
import { readdir, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import type { Database } from '../level/group-commit.ts'

const device = '/dev/full'

/** Whether this system has a device that refuses every write for want of space. */
export const hasFullDevice = existsSync(device)

/**
 * Has an open database write its changes to a full disk from now on: its next write-ahead file leads to a device that is
 * always full. Returns what takes that away, to be called before the database is opened again.
 */
export async function fillUp(database: Database, folder: string): Promise<() => Promise<void>> {
  const numbers = (await readdir(folder)).map((name) => Number(/\d+/.exec(name)?.[0] ?? 0))
  const last = Math.max(...numbers)
  const links = [1, 2, 3].map((more) => path.join(folder, `${String(last + more).padStart(6, '0')}.log`))
  for (const link of links) await symlink(device, link)
  // Makes LevelDB change to its next write-ahead file.
  await (database as Database & { compactRange(start: string, end: string): Promise<void> }).compactRange(
    '0',
    '0',
  )
  return async () => {
    for (const link of links) await rm(link, { force: true })
  }
}
