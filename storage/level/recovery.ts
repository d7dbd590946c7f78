import { setTimeout as pause } from 'node:timers/promises'
import { StoreError } from '../errors.ts'
import type { StoreHealth } from '../index.ts'
import type { Gate } from './gate.ts'
import type { Database, GroupCommit } from './group-commit.ts'
import { proveWritable } from './probe.ts'
import { reasonOf } from './reason.ts'

const firstPauseMs = 500
const longestPauseMs = 15_000
/** A failure this soon after the one before is taken for the same, in milliseconds. */
const sameMs = 60_000

interface RecoveryParts {
  readonly folder: string
  readonly database: Database
  readonly writer: GroupCommit
  readonly gate: Gate
  /** Called for each change. */
  readonly changed: (health: StoreHealth) => void
  /** Resolves after so many milliseconds, or when it is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>
}

const pauseUntil = (ms: number, signal: AbortSignal): Promise<void> =>
  pause(ms, undefined, { signal, ref: false }).catch(() => {})

/**
 * Makes a database that refused a write take writes again, without a restart. When the disk takes as much as it needs, the
 * database is opened again, as LevelDB may lose what it appends behind a torn record; operations wait meanwhile. Until then
 * reading goes on as before.
 */
export class Recovery {
  readonly #parts: RecoveryParts
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #pauseMs = firstPauseMs
  #failedAt = Number.NEGATIVE_INFINITY

  constructor(parts: RecoveryParts) {
    this.#parts = parts
  }

  /** Begins to try, after a refused write. */
  begin(failure: StoreError): void {
    const now = performance.now()
    if (now - this.#failedAt > sameMs) this.#pauseMs = firstPauseMs
    this.#failedAt = now
    this.#running ??= this.#run({ state: 'read-only', reason: reasonOf(failure), since: Date.now() }).finally(
      () => {
        this.#running = undefined
      },
    )
  }

  /** Tries once more if need be, and never again. The gate must be closed. */
  async end(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    if (this.#parts.writer.failure) await this.#open().catch(() => {})
  }

  async #run(health: StoreHealth): Promise<void> {
    const { changed } = this.#parts
    changed(health)
    for (;;) {
      const isStopped = await this.#pause()
      if (isStopped) return
      try {
        await this.#open()
        return changed({ state: 'healthy' })
      } catch (error) {
        const state = this.#parts.database.status === 'open' ? 'read-only' : 'down'
        changed({ ...health, state, reason: reasonOf(error) })
      }
    }
  }

  /** Waits longer each time; true when it is over. */
  async #pause(): Promise<boolean> {
    const { signal } = this.#stopping
    const { pause = pauseUntil } = this.#parts
    await pause(this.#pauseMs, signal)
    this.#pauseMs = Math.min(2 * this.#pauseMs, longestPauseMs)
    return signal.aborted
  }

  async #open(): Promise<void> {
    const { folder, database, writer, gate } = this.#parts
    await proveWritable(folder)
    await gate.hold()
    try {
      await database.close()
      await database.open()
    } catch (cause) {
      const message = `The store cannot be reopened (${reasonOf(cause)}). It retries: check the free space and the health of its disk.`
      gate.release(new StoreError('STORE_FAILED', message, cause))
      throw cause
    }
    writer.renew()
    gate.release()
  }
}
