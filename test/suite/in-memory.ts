import { mkdtemp, rm, statfs } from 'node:fs/promises'
import path from 'node:path'

const memory = '/dev/shm'

/** Bytes that all stores of a run together do not come near. */
const room = 4 * 2 ** 30

/**
 * Keeps what tests write below the temporary folder in memory, where the system has a place and room for that: they make thousands
 * of stores, which need no disk. Who sets TMPDIR has chosen another place.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }))
  if (process.env.TMPDIR !== undefined || bavail * bsize < room) return undefined
  const folder = await mkdtemp(path.join(memory, 'switchyard-'))
  process.env.TMPDIR = folder
  return async () => {
    delete process.env.TMPDIR
    await rm(folder, { recursive: true, force: true })
  }
}
