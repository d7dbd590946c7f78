import type { Log } from '#kernel'
import { contain, detach } from '#kit'
import { Cancellations } from './cancellations.ts'
import { interrupt } from './changes.ts'
import { DueJobs } from './due.ts'
import type { JobRow } from './row.ts'
import { Run } from './run.ts'
import { currentKind, type JobsState } from './state.ts'
import type { JobTable } from './table.ts'

interface SchedulerParts {
  readonly state: JobsState
  readonly table: JobTable
  readonly log: Log
  readonly now: () => number
}

/** The clock of the wall may be set, so that no timer waits longer without looking at it, in milliseconds. */
const longestWaitMs = 60_000
/** How soon is tried again what the store refused, in milliseconds. */
const refusedMs = 2_000

/** Starts jobs when they are due and there is room. It hears of them from the rows, and has one timer, for the next of them. */
export class Scheduler {
  readonly #parts: SchedulerParts
  readonly #due: DueJobs
  readonly #cancellations: Cancellations
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #again = false
  #isClosed = false
  #isRefused = false
  #unwatch: readonly (() => void)[] = []

  constructor(parts: SchedulerParts) {
    this.#parts = parts
    this.#due = new DueJobs(parts)
    this.#cancellations = new Cancellations(parts)
  }

  /** Begins: what ran in a process that died is due again. */
  async open(): Promise<void> {
    const { state, table, log } = this.#parts
    this.#unwatch = [
      table.jobs.watch(({ id, row }) => this.#changed(id, row)),
      table.pauses.watch(({ id, row }) => {
        this.#due.pause(id, row !== undefined)
        this.wake()
      }),
      this.#cancellations.watch(() => this.wake()),
    ]
    for await (const [kind] of table.pauses.scan()) this.#due.pause(kind, true)
    const recovered = await table.recover(({ id, lease }) => state.runs.get(id)?.job.lease === lease)
    if (recovered > 0) log.warn({ jobs: recovered }, 'jobs that ran when the gateway ended are due again')
    state.wake = () => this.wake()
    await this.remind()
  }

  /** Has plugins told of cancelled jobs that they could not be told of before. */
  async remind(): Promise<void> {
    await this.#cancellations.read()
    this.wake()
  }

  /** Starts nothing any more; running jobs go on. */
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
    if (row?.status !== 'waiting') return
    this.#due.note(row)
    this.wake()
  }

  async #look(): Promise<void> {
    // A turn later, so that it looks once for all that changes in this one.
    await new Promise(setImmediate)
    let waitMs: number
    try {
      while (this.#again && !this.#isClosed) {
        this.#again = false
        this.#cancellations.tell()
        await this.#due.follow()
        while (await this.#startDue());
      }
      waitMs = this.#due.nextAt - this.#parts.now()
      this.#isRefused = false
    } catch (error) {
      if (!this.#isRefused)
        this.#parts.log.error({ err: error }, 'jobs cannot be started until the store takes it')
      this.#isRefused = true
      waitMs = refusedMs
    }
    clearTimeout(this.#timer)
    if (this.#isClosed || waitMs === Number.POSITIVE_INFINITY) return
    const look = contain('the next job', () => this.wake())
    this.#timer = setTimeout(look, Math.min(Math.max(waitMs, 0), longestWaitMs)).unref()
  }

  /** Starts what is due and has room; true when there was something. */
  async #startDue(): Promise<boolean> {
    const { table } = this.#parts
    const due = await this.#due.take()
    if (due.length === 0) return false
    try {
      const claimed = await table.claim(
        due.map(({ id }) => id),
        () => this.#newLease(),
      )
      for (const job of claimed) this.#start(job)
      return true
    } catch (error) {
      for (const job of due) this.#due.note(job)
      throw error
    }
  }

  #newLease(): string {
    const { state } = this.#parts
    state.lastLease += 1
    return `${state.boot}.${state.lastLease}`
  }

  #start(job: JobRow): void {
    const { state, table, log } = this.#parts
    const kind = currentKind(state, job.kind)
    if (!kind || this.#isClosed) {
      detach('an interrupted job', table.changeHeld(job, interrupt))
      return
    }
    const run = new Run(job, kind, this.#parts)
    kind.runs.add(run)
    state.runs.set(job.id, run)
    const failed = (err: unknown): void =>
      log.error({ err, job: job.id }, 'the result of a job could not be recorded')
    const ended = run.run().catch(failed)
    const left = ended.finally(() => {
      kind.runs.delete(run)
      if (state.runs.get(job.id) === run) state.runs.delete(job.id)
      state.wake()
    })
    detach('a job', left)
  }
}
