import type { Log } from '#kernel'
import { contain, detach } from '#kit'
import { interrupted } from './changes.ts'
import { Lanes } from './lanes.ts'
import type { JobRow } from './row.ts'
import { Run } from './run.ts'
import { currentKind, type JobsState, runningOf } from './state.ts'
import type { JobTable } from './table.ts'

interface SchedulerParts {
  readonly state: JobsState
  readonly table: JobTable
  readonly log: Log
  readonly now: () => number
}

/** The clock of the wall may be set, so that no timer waits longer without looking at it, in milliseconds. */
const longestWaitMs = 60_000
/** How soon it is tried again what the store refused, in milliseconds. */
const refusedMs = 2_000

/**
 * Starts jobs when they are due and there is room. What waits is on disk: in memory are the lanes with their first times, and
 * one timer for the next of them.
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #lanes = new Lanes()
  readonly #paused = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #again = false
  #isClosed = false
  #unwatch: readonly (() => void)[] = []

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  /** Begins: what ran in a process that died is due again. */
  async open(): Promise<void> {
    const { state, table, log } = this.#parts
    this.#unwatch = [
      table.jobs.watch(({ id, row }) => this.#changed(id, row)),
      table.pauses.watch(({ id, row }) => this.#pausedOrNot(id, row !== undefined)),
    ]
    for await (const [kind] of table.pauses.scan()) this.#paused.add(kind)
    const recovered = await table.recover(({ id, lease }) => state.runs.get(id)?.job.lease === lease)
    if (recovered > 0) log.warn({ jobs: recovered }, 'jobs that ran when the gateway ended are due again')
    state.wake = () => this.wake()
    this.wake()
  }

  /** Starts nothing any more; what runs goes on. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const unwatch of this.#unwatch) unwatch()
    await this.#looking
  }

  /** Looks soon for what can start. */
  wake(): void {
    this.#again = true
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
      if (this.#again && !this.#isClosed) this.wake()
    })
  }

  #changed(id: string, row: JobRow | undefined): void {
    const run = this.#parts.state.runs.get(id)
    if (run && row?.lease !== run.job.lease) run.stop('lost')
    if (row?.status !== 'waiting' || row.dueAt === undefined) return
    this.#lanes.note(row.kind, row.lane, row.dueAt)
    this.wake()
  }

  #pausedOrNot(kind: string, isPaused: boolean): void {
    if (isPaused) this.#paused.add(kind)
    else this.#paused.delete(kind)
    this.wake()
  }

  async #look(): Promise<void> {
    // A turn later: the setup that has defined a kind goes on first.
    await new Promise(setImmediate)
    let waitMs = longestWaitMs
    try {
      while (this.#again && !this.#isClosed) {
        this.#again = false
        await this.#openKinds()
        while (await this.#startDue());
      }
      waitMs = this.#waitMs()
    } catch (error) {
      this.#parts.log.error({ err: error }, 'jobs could not be started, and are soon tried again')
      waitMs = refusedMs
    }
    clearTimeout(this.#timer)
    if (this.#isClosed || waitMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(
      contain('the next job', () => this.wake()),
      waitMs,
    ).unref()
  }

  /** Follows kinds that are defined now, and those no more that are not. */
  async #openKinds(): Promise<void> {
    const { state, table } = this.#parts
    for (const kind of this.#lanes.kinds) if (!currentKind(state, kind)) this.#lanes.close(kind)
    for (const kind of state.kinds.keys()) {
      if (this.#lanes.isOpen(kind)) continue
      this.#lanes.open(kind)
      try {
        for await (const { lane, dueAt } of table.heads(kind)) this.#lanes.note(kind, lane, dueAt!)
      } catch (error) {
        this.#lanes.close(kind)
        throw error
      }
    }
  }

  /** Starts what is due and has room; true when there was something. */
  async #startDue(): Promise<boolean> {
    const { table, state } = this.#parts
    const due: JobRow[] = []
    try {
      for (const kind of this.#lanes.kinds) due.push(...(await this.#dueOf(kind)))
      if (due.length === 0) return false
      const claimed = await table.claim(
        due.map(({ id }) => id),
        () => {
          state.lastLease += 1
          return `${state.boot}.${state.lastLease}`
        },
      )
      for (const job of claimed) this.#start(job)
      return true
    } catch (error) {
      for (const { kind, lane, dueAt } of due) this.#lanes.note(kind, lane, dueAt!)
      throw error
    }
  }

  /** Jobs of a kind that are due, as many as there is room for; notes when those behind them are. */
  async #dueOf(kind: string): Promise<JobRow[]> {
    const { table, now } = this.#parts
    const found: JobRow[] = []
    let room = this.#roomOf(kind)
    for (const [lane, dueAt] of this.#lanes.of(kind)) {
      const most = Math.min(room, this.#roomOf(kind, lane))
      if (dueAt > now() || room <= 0) break
      if (most <= 0) continue
      // Forgotten first: what is added while the lane is read is noted beside what was read.
      this.#lanes.forget(kind, lane)
      const waiting = await table.first(kind, lane, most + 1).catch((error: unknown) => {
        this.#lanes.note(kind, lane, dueAt)
        throw error
      })
      const ready = waiting.slice(0, most).filter((job) => job.dueAt! <= now())
      const next = waiting[ready.length]
      if (next) this.#lanes.note(kind, lane, next.dueAt!)
      found.push(...ready)
      room -= ready.length
    }
    return found
  }

  /** How many more of a kind, or of a lane of it, may run. */
  #roomOf(kind: string, lane?: string): number {
    const { state } = this.#parts
    const current = currentKind(state, kind)
    if (!current || this.#paused.has(kind)) return 0
    const { concurrency, perLane } = current.definition
    return (lane === undefined ? concurrency : perLane) - runningOf(state, kind, lane)
  }

  #start(job: JobRow): void {
    const { state, table, log } = this.#parts
    const kind = currentKind(state, job.kind)
    if (!kind || this.#isClosed) {
      detach('a job that nobody runs', table.changeHeld(job, interrupted))
      return
    }
    const run = new Run(job, kind, this.#parts)
    kind.runs.add(run)
    state.runs.set(job.id, run)
    const ended = run
      .run()
      .catch((error: unknown) =>
        log.error({ err: error, job: job.id }, 'what came of a job could not be recorded'),
      )
      .finally(() => {
        kind.runs.delete(run)
        if (state.runs.get(job.id) === run) state.runs.delete(job.id)
        state.wake()
      })
    detach('a job', ended)
  }

  /** Until the first lane is due that has room. */
  #waitMs(): number {
    let next = Number.POSITIVE_INFINITY
    for (const kind of this.#lanes.kinds) {
      if (this.#roomOf(kind) <= 0) continue
      for (const [lane, dueAt] of this.#lanes.of(kind)) {
        if (dueAt >= next) break
        if (this.#roomOf(kind, lane) > 0) next = dueAt
      }
    }
    return Math.min(
      Math.max(next - this.#parts.now(), 0),
      next === Number.POSITIVE_INFINITY ? next : longestWaitMs,
    )
  }
}
