import { execFile } from 'node:child_process'
import { mkdtemp, open, rm, rmdir, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const page = 4096

/** A disk that can be filled up. */
export interface SmallDisk extends AsyncDisposable {
  readonly folder: string
  /** Takes its space, up to so many megabytes, or all of it. */
  fill(leaving?: number): Promise<void>
  /** Gives the space back. */
  free(): Promise<void>
}

/** Mounts a disk of its own for a test; undefined where the process may not mount one, because it does not run as root. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'small-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  } catch {
    await rmdir(folder)
    return undefined
  }
  const ballast = path.join(folder, 'ballast')
  return {
    folder,
    async fill(leaving = 0) {
      const handle = await open(ballast, 'a')
      const isFull = (error: NodeJS.ErrnoException) => error.code === 'ENOSPC'
      const { bavail, bsize } = await statfs(folder)
      let left = Math.max(0, bavail * bsize - leaving * 2 ** 20)
      try {
        for (let full = false; !full && left > 0; left -= page)
          full = await handle.appendFile(Buffer.alloc(page)).then(() => false, isFull)
      } finally {
        await handle.close()
      }
    },
    free: () => rm(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', folder])
      await rmdir(folder)
    },
  }
}
