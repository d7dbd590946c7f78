import { randomBytes } from 'node:crypto'
import { open, readdir, rm, stat, statfs } from 'node:fs/promises'
import path from 'node:path'

const megabyte = 2 ** 20
/** For the files that LevelDB makes anew, beside the tables. */
const spareBytes = 2 * megabyte

/**
 * Rejects when a disk does not take what opening the database in this folder again may write: its write-ahead files once
 * more, as tables. It is tried with a file of that size, as no figure tells of quotas and limits.
 */
export async function proveWritable(folder: string): Promise<void> {
  const bytes = (await sizeOfLogs(folder)) + spareBytes
  const { bavail, bsize } = await statfs(folder)
  if (bavail * bsize < bytes) {
    const megabytes = Math.ceil(bytes / megabyte)
    throw new Error(`At least ${megabytes} MB must be free`)
  }
  const file = path.join(folder, 'probe')
  const handle = await open(file, 'w', 0o600)
  try {
    const some = randomBytes(megabyte)
    for (let left = bytes; left > 0; left -= some.length) await handle.writeFile(some.subarray(0, left))
    await handle.sync()
  } finally {
    await handle.close()
    await rm(file)
  }
}

async function sizeOfLogs(folder: string): Promise<number> {
  const logs = (await readdir(folder)).filter((name) => name.endsWith('.log'))
  const sizes = await Promise.all(logs.map((name) => stat(path.join(folder, name))))
  return sizes.reduce((sum, { size }) => sum + size, 0)
}
