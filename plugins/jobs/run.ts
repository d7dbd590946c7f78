import { setTimeout } from 'node:timers/promises'
import { Countdown, type JobError, type Log } from '#kernel'
import { completed, failed, interrupted, missed } from './changes.ts'
import { RunningJob, type Suspended } from './job.ts'
import { plain } from './plain.ts'
import { recorded } from './recorded.ts'
import type { JobRow } from './row.ts'
import type { Kind } from './state.ts'
import { type JobTable, LeaseLost } from './table.ts'

export interface RunParts {
  readonly table: JobTable
  readonly log: Log
  readonly now: () => number
}

/** How long a run may go on that has been told to stop, in milliseconds; less than a plugin may take to release it. */
const graceMs = 8_000

/** Why a run stops before its time: the instance goes whose code it is, its time is up, or the job is in other hands. */
type Stop = 'released' | 'overdue' | 'lost'

const reasons: Readonly<Record<Stop, string>> = {
  released: 'The plugin that runs the job goes',
  overdue: 'The job took longer than it may',
  lost: 'The job was cancelled',
}

/** One run of a job by one definition, from its claim to what is recorded of it. */
export class Run {
  readonly job: JobRow
  readonly #kind: Kind
  readonly #parts: RunParts
  readonly #abort = new AbortController()
  readonly #time = new Countdown(() => this.stop('overdue'))
  /** Resolves when what was told to stop has had its time. */
  readonly #patience = Promise.withResolvers<void>()
  #stop: Stop | undefined
  #ended: Promise<void> | undefined

  constructor(job: JobRow, kind: Kind, parts: RunParts) {
    this.job = job
    this.#kind = kind
    this.#parts = parts
  }

  /** Has it stop soon; the first reason counts, but that the job was taken away counts more. */
  stop(why: Stop): void {
    if (this.#stop === undefined) {
      this.#abort.abort(new Error(reasons[why]))
      void setTimeout(graceMs, undefined, { ref: false }).then(this.#patience.resolve)
    }
    if (this.#stop === undefined || why === 'lost') this.#stop = why
  }

  /** Runs the job, once, and records what came of it. Rejects when that cannot be recorded. */
  run(): Promise<void> {
    this.#ended ??= this.#guarded()
    return this.#ended
  }

  async #guarded(): Promise<void> {
    try {
      await this.#run()
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error
    } finally {
      this.#time.clear()
    }
  }

  async #run(): Promise<void> {
    const { table } = this.#parts
    const { job } = this
    if (job.isFailing) return this.#giveUp(job)
    const attempt = this.#attempt()
    const ended = await Promise.race([
      attempt,
      this.#patience.promise.then(() => ({ thrown: this.#abort.signal.reason })),
    ])
    if (this.#stop === 'lost') return
    if ('suspension' in ended) return recorded(() => table.suspend(job, ended.suspension.until))
    if ('value' in ended) return this.#leave((row, now) => completed(row, ended.value, now))
    if (this.#stop === 'released') return this.#leave(interrupted)
    await this.#missed(this.#stop === 'overdue' ? this.#abort.signal.reason : ended.thrown)
  }

  async #leave(change: (row: JobRow, now: number) => JobRow): Promise<void> {
    await recorded(() => this.#parts.table.changeHeld(this.job, change))
  }

  /** What the code of the job came to. */
  async #attempt(): Promise<
    { readonly value: unknown } | { readonly thrown: unknown } | { readonly suspension: Suspended }
  > {
    const { definition } = this.#kind
    const { table, now } = this.#parts
    const parsed = definition.input.safeParse(this.job.input)
    if (!parsed.success) return { thrown: Object.assign(parsed.error, { retryable: false }) }
    const hand = new RunningJob({
      table,
      now,
      row: this.job,
      input: parsed.data,
      state: this.#state,
      signal: this.#abort.signal,
    })
    this.#time.set(definition.timeoutMs)
    const ended = await settle(() => definition.run(hand))
    await hand.idle()
    return hand.suspension ? { suspension: hand.suspension } : ended
  }

  get #state(): unknown {
    const { state } = this.#kind.definition
    return state ? state.safeParse(this.job.state).data : this.job.state
  }

  async #missed(thrown: unknown): Promise<void> {
    const { table, log } = this.#parts
    const { delaysMs } = this.#kind.definition
    const row = await recorded(() =>
      table.changeHeld(this.job, (row, now) => missed(row, thrown, { delaysMs, now })),
    )
    const { id, attempts } = row
    if (!row.isFailing) return log.warn({ job: id, attempts, err: thrown }, 'an attempt of a job failed')
    log.error({ job: id, attempts, err: thrown }, 'a job failed')
    await this.#giveUp(row)
  }

  /** Tells that it has failed, and then records it: where the process dies in between, it is told again. */
  async #giveUp(row: JobRow): Promise<void> {
    const { definition } = this.#kind
    const { log } = this.#parts
    const { id } = row
    const input = definition.input.safeParse(row.input)
    if (definition.gaveUp && input.success) {
      const told = { id, input: input.data, state: this.#state, signal: this.#abort.signal }
      this.#time.set(definition.timeoutMs)
      const telling = settle(() => definition.gaveUp?.(told, row.error as JobError))
      const ended = await Promise.race([telling, this.#patience.promise])
      if (this.#stop === 'lost') return
      if (this.#stop === 'released' && !(ended && 'value' in ended)) return this.#leave(interrupted)
      if (ended && 'thrown' in ended)
        log.error({ job: id, err: ended.thrown }, 'that a job failed could not be told')
    }
    await this.#leave(failed)
  }
}

/** Runs code of a plugin to its end, whatever that is. */
async function settle(
  run: () => unknown,
): Promise<{ readonly value: unknown } | { readonly thrown: unknown }> {
  try {
    return { value: plain(await run()) }
  } catch (thrown) {
    return { thrown }
  }
}
