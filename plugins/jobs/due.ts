import { spread } from './backlog.ts'
import { Lanes } from './lanes.ts'
import type { JobRow } from './row.ts'
import { currentKind, type JobsState } from './state.ts'
import type { JobTable } from './table.ts'

interface DueParts {
  readonly state: JobsState
  readonly table: JobTable
  readonly now: () => number
}

/** How many more of a kind may run, in all and of each of its lanes. */
interface Room {
  readonly all: number
  of(lane: string): number
}

/** Which jobs are due and have room, of the kinds that are defined and not paused. */
export class DueJobs {
  readonly #parts: DueParts
  readonly #lanes = new Lanes()
  readonly #paused = new Set<string>()

  constructor(parts: DueParts) {
    this.#parts = parts
  }

  /** A job waits. */
  note({ kind, lane, dueAt = Number.POSITIVE_INFINITY }: JobRow): void {
    this.#lanes.note(kind, lane, dueAt)
  }

  pause(kind: string, isPaused: boolean): void {
    if (isPaused) this.#paused.add(kind)
    else this.#paused.delete(kind)
  }

  /** Follows kinds that are defined now, and those no more that are not. */
  async follow(): Promise<void> {
    const { state, table, now } = this.#parts
    for (const kind of this.#lanes.kinds) if (!currentKind(state, kind)) this.#lanes.close(kind)
    for (const kind of state.kinds.keys()) {
      const current = currentKind(state, kind)
      if (!current || this.#lanes.isOpen(kind)) continue
      this.#lanes.open(kind)
      try {
        const { spreadMs } = current.definition
        if (spreadMs > 0) await spread(table, kind, spreadMs, now())
        for await (const job of table.heads(kind)) this.note(job)
      } catch (error) {
        this.#lanes.close(kind)
        throw error
      }
    }
  }

  /** Finds jobs to start. The caller notes those again that it does not start. */
  async take(): Promise<JobRow[]> {
    const found: JobRow[] = []
    try {
      for (const kind of this.#lanes.kinds) await this.#takeOf(kind, found)
    } catch (error) {
      for (const job of found) this.note(job)
      throw error
    }
    return found
  }

  /** When the first job is due that has room; infinite when there is none. */
  get nextAt(): number {
    let next = Number.POSITIVE_INFINITY
    for (const kind of this.#lanes.kinds) {
      const room = this.#roomOf(kind)
      if (room.all <= 0) continue
      for (const [lane, dueAt] of this.#lanes.of(kind)) if (dueAt < next && room.of(lane) > 0) next = dueAt
    }
    return next
  }

  async #takeOf(kind: string, found: JobRow[]): Promise<void> {
    const { table, now } = this.#parts
    const room = this.#roomOf(kind)
    if (room.all <= 0) return
    let left = room.all
    const due = [...this.#lanes.of(kind)].filter(([lane, dueAt]) => dueAt <= now() && room.of(lane) > 0)
    for (const [lane, dueAt] of due.sort(([, a], [, b]) => a - b)) {
      if (left <= 0) return
      const most = Math.min(left, room.of(lane))
      // Forgotten first: what is added while the lane is read is noted beside what was read.
      this.#lanes.forget(kind, lane)
      const waiting = await table.first(kind, lane, most + 1).catch((error: unknown) => {
        this.#lanes.note(kind, lane, dueAt)
        throw error
      })
      const ready = waiting.slice(0, most).filter((job) => job.dueAt! <= now())
      const next = waiting[ready.length]
      if (next) this.note(next)
      found.push(...ready)
      left -= ready.length
    }
  }

  #roomOf(kind: string): Room {
    const { state } = this.#parts
    const { concurrency = 0, perLane = 0 } = currentKind(state, kind)?.definition ?? {}
    const running = new Map<string, number>()
    let all = this.#paused.has(kind) ? 0 : concurrency
    for (const { job } of state.runs.values()) {
      if (job.kind !== kind) continue
      all -= 1
      running.set(job.lane, (running.get(job.lane) ?? 0) + 1)
    }
    return { all, of: (lane) => perLane - (running.get(lane) ?? 0) }
  }
}
