import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, rmdir, symlink } from 'node:fs/promises'
import path from 'node:path'

const device = '/dev/full'

/** Whether this system has a device that refuses every write for want of space. */
export const hasFullDevice = existsSync(device)

/**
 * Has an open database write its changes to a full disk until it is opened again: its next write-ahead file leads to a device
 * that is always full. `compact` makes LevelDB change to that file.
 */
export async function fillUp(folder: string, compact: () => Promise<void>): Promise<void> {
  const numbers = (await readdir(folder)).map((name) => Number(/\d+/.exec(name)?.[0] ?? 0))
  const last = Math.max(...numbers)
  const links = [1, 2, 3].map((more) => path.join(folder, `${String(last + more).padStart(6, '0')}.log`))
  for (const link of links) await symlink(device, link)
  // It writes, which the device refuses.
  await compact().catch(() => {})
  for (const link of links) await rm(link, { force: true })
}

/** Keeps a database that was filled up from being opened again; calling what it gives lets it be. */
export async function stayFull(folder: string): Promise<() => Promise<void>> {
  // Whether the disk takes writes is tried with a file of this name.
  const probe = path.join(folder, 'probe')
  await mkdir(probe)
  return () => rmdir(probe)
}
