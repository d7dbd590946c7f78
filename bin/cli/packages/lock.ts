import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packagesFolder } from '../../../kernel/plugin/packages/installed.ts'
import { openLevel } from '../../../storage/level.ts'

interface Turn {
  /** Told once, when somebody else is at work. */
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

/** The same at once or not at all: nothing is done when somebody else is at work. */
export async function ifAlone(dataDir: string, work: () => Promise<void>): Promise<void> {
  const release = await acquire(dataDir)
  await (release && work().finally(release))
}

/**
 * An empty LevelDB is the lock: only one process can have it open, and the operating system, which sees to that, takes
 * the lock back from a process however it ends. A file with a process id in it would have to be told from a stale one.
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
