import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packagesFolder } from '../../../gateway/discovery/installed.ts'
import { openLevel } from '../../../storage/level.ts'

interface Turn {
  /** Called once, when another command is at work. */
  readonly onWait?: () => void
  /** How long to wait for the others, in milliseconds. */
  readonly waitMs?: number
}

/** How often a waiting command looks whether the lock is free, in milliseconds. */
const lookMs = 100

/**
 * Works on what is installed while no other command does, in this process or another. Waits for its turn, and throws when
 * that is too long. A command that was killed holds up no other.
 */
export async function alone<T>(
  dataDir: string,
  work: () => Promise<T>,
  { onWait, waitMs = 15 * 60_000 }: Turn = {},
): Promise<T> {
  const until = Date.now() + waitMs
  for (let tries = 0; ; tries += 1) {
    const release = await acquire(dataDir)
    if (release) return work().finally(release)
    if (tries === 0) onWait?.()
    if (Date.now() >= until) {
      throw new Error(
        `another "switchyard plugin" command has been running in ${dataDir} for ${waitMs / 60_000} minutes: end it first`,
      )
    }
    await sleep(lookMs)
  }
}

/** Does the work at once, or not at all when another command is at work. */
export async function ifAlone(dataDir: string, work: () => Promise<void>): Promise<void> {
  const release = await acquire(dataDir)
  await (release && work().finally(release))
}

/**
 * An empty LevelDB is the lock: only one process can have it open. The operating system enforces that, and takes the lock back
 * from a process however it ends, whereas a process id in a file could be stale.
 */
async function acquire(dataDir: string): Promise<(() => Promise<void>) | undefined> {
  await mkdir(packagesFolder(dataDir), { recursive: true })
  try {
    const held = await openLevel(path.join(packagesFolder(dataDir), '.lock'))
    return () => held.close()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'STORE_LOCKED') return undefined
    throw error
  }
}
