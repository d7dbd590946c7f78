import type { Job, Log } from '#kernel'
import { persist } from '#kit'
import { asJson } from './as-json.ts'
import { complete, errorOf, fail, failAttempt, interrupt } from './changes.ts'
import type { Contents } from './contents.ts'
import { LeaseLost } from './errors.ts'
import { RunningJob, type Suspended } from './job.ts'
import type { JobRow } from './row.ts'
import type { Definition, Kind } from './state.ts'
import { reasons, type Stop, Stopping } from './stopping.ts'
import type { JobTable } from './table.ts'

export interface RunParts {
  readonly table: JobTable
  readonly log: Log
  readonly now: () => number
}

type Ended =
  | { readonly value: unknown }
  | { readonly thrown: unknown }
  | { readonly suspension: Suspended['until'] }

/** One run of a job by one definition, from its claim to what is recorded of it. */
export class Run {
  readonly job: JobRow
  readonly #kind: Kind
  readonly #parts: RunParts
  /** Code that runs; undefined while what came of it is recorded, when nothing can stop it. */
  #code: Stopping | undefined
  #isReleased = false
  #ended: Promise<void> | undefined

  constructor(job: JobRow, kind: Kind, parts: RunParts) {
    this.job = job
    this.#kind = kind
    this.#parts = parts
  }

  /** Has it stop soon. */
  stop(why: Exclude<Stop, 'overdue'>): void {
    if (why === 'released') this.#isReleased = true
    this.#code?.stop(why)
  }

  /** Runs the job, once, and records what came of it. Rejects when that cannot be recorded. */
  run(): Promise<void> {
    this.#ended ??= this.#run().catch((error: unknown) => {
      if (!(error instanceof LeaseLost)) throw error
    })
    return this.#ended
  }

  async #run(): Promise<void> {
    const { job } = this
    if (job.isFailing) return this.#giveUp(job)
    const { ended, why } = await this.#wait((signal) => this.#attempt(signal))
    if (why === 'lost') return
    if (ended && 'suspension' in ended)
      return persist(() => this.#parts.table.memos.suspend(job, ended.suspension))
    if (ended && 'value' in ended) return this.#complete(ended.value)
    if (why === 'released') return this.#leave(interrupt)
    await this.#handleFailure(why === 'overdue' ? new Error(reasons.overdue) : ended?.thrown)
  }

  /** Runs code in the time that the definition gives; `ended` is undefined when it had to stop and goes on. */
  async #wait(run: (signal: AbortSignal) => Promise<Ended>) {
    const code = new Stopping()
    this.#code = code
    if (this.#isReleased) code.stop('released')
    const ended = await code.within(this.#kind.definition.timeoutMs, () => run(code.signal))
    this.#code = undefined
    return { ended, why: code.why }
  }

  #complete(value: unknown): Promise<void> {
    const result = this.#parts.table.contents.seal(value)
    return this.#leave((row, now) => complete(row, result, now))
  }

  async #leave(change: (row: JobRow, now: number) => JobRow): Promise<void> {
    await persist(() => this.#parts.table.changeHeld(this.job, change))
  }

  async #attempt(signal: AbortSignal): Promise<Ended> {
    const { definition } = this.#kind
    const { table, now } = this.#parts
    const { job: row } = this
    let given: Pick<Job<unknown>, 'input' | 'state'>
    try {
      const state = savedState(row, definition, table.contents)
      given = { input: definition.input.parse(table.contents.open(row.input)), state }
    } catch (error) {
      return { thrown: Object.assign(error as Error, { retryable: false }) }
    }
    const job = new RunningJob({ table, now, row, signal, ...given })
    const ended = await outcomeOf(() => definition.run(job))
    await job.idle()
    return job.suspension ? { suspension: job.suspension.until } : ended
  }

  async #handleFailure(thrown: unknown): Promise<void> {
    const { table, log } = this.#parts
    const { delaysMs } = this.#kind.definition
    const error = table.contents.sealError(errorOf(thrown))
    const row = await persist(() =>
      table.changeHeld(this.job, (row, now) => failAttempt(row, thrown, { error, delaysMs, now })),
    )
    const { id, attempts } = row
    if (!row.isFailing) return log.warn({ job: id, attempts, err: thrown }, 'an attempt of a job failed')
    log.error({ job: id, attempts, err: thrown }, 'a job failed')
    await this.#giveUp(row)
  }

  /** Reports the failure, and then records it: where the process dies in between, it is reported again. */
  async #giveUp(row: JobRow): Promise<void> {
    const { id, input, error = errorOf(undefined) } = row
    const { definition } = this.#kind
    const { contents } = this.#parts.table
    const parsed = definition.input.safeParse(contents.show(input))
    if (definition.gaveUp && parsed.success) {
      const told = { id, input: parsed.data, state: savedState(row, definition, contents) }
      const { ended, why } = await this.#wait((signal) =>
        outcomeOf(() => definition.gaveUp?.({ ...told, signal }, contents.showError(error))),
      )
      if (why === 'lost') return
      const isTold = ended !== undefined && 'value' in ended
      if (why === 'released' && !isTold) return this.#leave(interrupt)
      const err = ended && 'thrown' in ended ? ended.thrown : undefined
      if (!isTold) this.#parts.log.error({ job: id, err }, 'the failure of a job could not be reported')
    }
    await this.#leave(fail)
  }
}

/** What a job has saved; undefined where it no longer fits. */
export function savedState(row: JobRow, { state }: Pick<Definition, 'state'>, contents: Contents): unknown {
  const saved = contents.show(row.state)
  return state ? state.safeParse(saved).data : saved
}

/** Runs code of a plugin to its end, whatever that is. */
export async function outcomeOf(
  run: () => unknown,
): Promise<{ readonly value: unknown } | { readonly thrown: unknown }> {
  try {
    return { value: asJson(await run()) }
  } catch (thrown) {
    return { thrown }
  }
}
