import { statfs } from 'node:fs/promises'
import type { Log } from '../kernel/log.ts'
import type { StoreState } from '../kernel/services.ts'
import type { StoreHealth } from '../storage/index.ts'

interface StoreWatchOptions {
  /** Where the store lies. */
  readonly folder: string
  /** Bytes of free space below which what can be done without is not stored; 0 for never. */
  readonly minFree: number
  /** Left out where another thread says the same. */
  readonly log?: Log | undefined
}

/** More than the mark by this must be free again, so that a disk at the mark is not in and out of it. */
const slack = 1.05

/** Knows how the store is, from what its engine tells and from the space on its disk. */
export class StoreWatch implements StoreState {
  readonly #options: StoreWatchOptions
  #health: StoreHealth = { state: 'healthy' }
  #hasRoom = true
  endedUncleanly = false

  constructor(options: StoreWatchOptions) {
    this.#options = options
  }

  get health(): StoreHealth {
    return this.#health
  }

  get hasRoom(): boolean {
    return this.#hasRoom
  }

  get problem(): string | undefined {
    const { state, reason } = this.#health
    if (state === 'down') return `The store does not answer (${reason}). It is tried again until it does.`
    if (state === 'read-only')
      return `The store refuses writes (${reason}). Model calls continue, changes are refused, and traces wait in memory until the disk accepts them.`
    if (!this.#hasRoom) return 'The disk is short of space: the bodies of traces are not stored.'
    return undefined
  }

  /** Takes in what the engine tells, and logs it when it is news. */
  take(health: StoreHealth): void {
    const before = this.#health
    this.#health = health
    if (before.state === health.state && before.reason === health.reason) return
    const { log } = this.#options
    if (health.state === 'healthy') log?.info('the store accepts writes again')
    else log?.error({ state: health.state, reason: health.reason }, 'the store refuses writes')
  }

  /** Looks how much space is free. */
  async look(): Promise<void> {
    const { folder, minFree, log } = this.#options
    if (minFree === 0) return
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    const hasRoom = free >= (this.#hasRoom ? minFree : minFree * slack)
    if (hasRoom === this.#hasRoom) return
    this.#hasRoom = hasRoom
    if (hasRoom) log?.info({ free_bytes: free }, 'bodies of traces are stored again')
    else
      log?.warn(
        { free_bytes: free, min_free: minFree },
        'the disk is short of space: bodies of traces are not stored',
      )
  }
}
