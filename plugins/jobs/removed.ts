import type { Log } from '#kernel'
import { isScheduled } from './cron.ts'
import { currentKind, defaultKeep, type JobsState, oldest } from './state.ts'
import type { JobTable } from './table.ts'
import { prune } from './tidy.ts'

interface RemovedParts {
  readonly state: JobsState
  readonly table: JobTable
  readonly log: Log
  readonly now: () => number
  /** Whether there is a plugin, or a binding, of this id, switched on or not. */
  readonly isThere: (owner: string) => boolean
}

/** How long a plugin is gone before its jobs are cancelled, in milliseconds: its folder may be put back, or replaced. */
export const goneMs = 10 * 60_000

/**
 * Ends the jobs of plugins that were removed, which nothing would run: those that wait are cancelled, and those that have ended
 * are kept as long as jobs are whose definition does not say it. A plugin that comes back is told what was cancelled.
 */
export class RemovedPlugins {
  readonly #parts: RemovedParts
  /** Since when there is no plugin for a kind. */
  readonly #since = new Map<string, number>()

  constructor(parts: RemovedParts) {
    this.#parts = parts
  }

  async tidy(): Promise<void> {
    const { table, now } = this.#parts
    for await (const kind of table.kinds()) {
      if (this.#isThere(kind)) this.#since.delete(kind)
      else {
        const since = this.#since.get(kind) ?? now()
        this.#since.set(kind, since)
        if (now() - since >= goneMs) await this.#end(kind)
      }
    }
  }

  /** The instance of a plugin outlives its removal while calls still have it. */
  #isThere(kind: string): boolean {
    const { state, isThere } = this.#parts
    return currentKind(state, kind) !== undefined || isThere(kind.slice(0, kind.lastIndexOf('.')))
  }

  async #end(kind: string): Promise<void> {
    const { table, log, now } = this.#parts
    const { cancelled, scheduled } = await this.#cancel(kind)
    // Its time is free for the schedule, should the plugin come back before it.
    for (const id of scheduled) await table.forget(id)
    if (cancelled > 0) log.warn({ kind, jobs: cancelled }, 'jobs of a plugin that was removed were cancelled')
    await prune(table, kind, { before: oldest(defaultKeep, now()), most: defaultKeep.most })
  }

  async #cancel(kind: string): Promise<{ cancelled: number; scheduled: readonly string[] }> {
    const { table } = this.#parts
    const scheduled: string[] = []
    let cancelled = 0
    for await (const [id, row] of table.waiting(kind)) {
      if (!(await table.cancelOrphan(id, 'The plugin that runs this job was removed.'))) continue
      cancelled += 1
      if (isScheduled(table.contents.show(row.input))) scheduled.push(id)
    }
    return { cancelled, scheduled }
  }
}
