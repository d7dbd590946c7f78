import type { Job, JobProgress } from '#kernel'
import { persist } from '#kit'
import { asJson } from './as-json.ts'
import type { Memo } from './memos.ts'
import type { JobRow } from './row.ts'
import type { JobTable } from './table.ts'

/** Thrown to leave a run whose job goes on later. */
export class Suspended extends Error {
  readonly until: Pick<JobRow, 'dueAt' | 'waitsFor'>

  constructor(until: Pick<JobRow, 'dueAt' | 'waitsFor'>) {
    super('The job waits and starts again later: do not catch this error')
    this.until = until
  }
}

interface JobParts {
  readonly table: JobTable
  readonly row: JobRow
  readonly input: unknown
  readonly state: unknown
  readonly signal: AbortSignal
  readonly now: () => number
}

/**
 * A job as its code sees it. Once the job has ended or another process has taken it over, every request of its code is refused.
 */
export class RunningJob implements Job<unknown, unknown> {
  readonly id: string
  readonly input: unknown
  readonly attempt: number
  readonly signal: AbortSignal
  readonly #parts: JobParts
  /** Steps of this run. */
  readonly #begun = new Map<string, Promise<unknown>>()
  #state: unknown
  #suspension: Suspended | undefined

  constructor(parts: JobParts) {
    const { row, input, state, signal } = parts
    this.id = row.id
    this.input = input
    this.attempt = row.attempts + 1
    this.signal = signal
    this.#parts = parts
    this.#state = state
  }

  get state(): unknown {
    return this.#state
  }

  /** The wait that it has begun, if any; also when the code has caught the error that announced it. */
  get suspension(): Suspended | undefined {
    return this.#suspension
  }

  readonly step = async <T>(name: string, run: (key: string) => T | PromiseLike<T>): Promise<T> => {
    checkName(name)
    return this.#once('step', name, run)
  }

  readonly save = async (state: unknown, progress?: JobProgress): Promise<void> => {
    this.#check()
    const plain = asJson(state)
    const kept = this.#parts.table.contents.seal(plain)
    const change = ({ deaths: _, ...row }: JobRow): JobRow => ({
      ...row,
      state: kept,
      ...(progress && { progress }),
    })
    await persist(() => this.#parts.table.changeHeld(this.#parts.row, change))
    this.#state = plain
  }

  readonly sleepUntil = async (name: string, at: number): Promise<void> => {
    checkName(name)
    if (!Number.isFinite(at)) throw new TypeError('A time is milliseconds since the epoch')
    const dueAt = await this.#once('time', name, () => at)
    if (dueAt > this.#parts.now()) throw this.#suspend({ dueAt })
  }

  readonly waitFor = async (
    signal: string,
    { until }: { readonly until?: number } = {},
  ): Promise<unknown> => {
    checkName(signal)
    this.#check()
    const { table, row, now } = this.#parts
    const dueAt = until === undefined ? undefined : await this.#once('deadline', signal, () => until)
    // That none came in time is kept as a signal without data, so that a later one changes nothing.
    if (dueAt !== undefined && dueAt <= now()) await table.memos.keep(row, 'signal', signal, undefined)
    const found = await table.memos.get(row, 'signal', signal)
    if (found) return found.value
    throw this.#suspend({ waitsFor: signal, ...(dueAt !== undefined && { dueAt }) })
  }

  /** Resolves when no step runs any more. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#begun.values())
  }

  #once<T>(memo: Memo, name: string, run: (key: string) => T | PromiseLike<T>): Promise<T> {
    const at = `${memo} ${name}`
    const begun = this.#begun.get(at)
    if (begun) return begun as Promise<T>
    const step = this.#run(memo, name, run)
    this.#begun.set(at, step)
    // One that failed may be tried again by the same attempt.
    step.catch(() => this.#begun.delete(at))
    return step
  }

  async #run<T>(memo: Memo, name: string, run: (key: string) => T | PromiseLike<T>): Promise<T> {
    this.#check()
    const { table, row } = this.#parts
    const known = await table.memos.get(row, memo, name)
    if (known) return known.value as T
    this.#check()
    const value = asJson(await run(`${row.id} ${name}`))
    await persist(() => table.memos.keep(row, memo, name, value))
    return value as T
  }

  #check(): void {
    if (this.#suspension) throw this.#suspension
    if (this.signal.aborted) throw this.signal.reason
  }

  #suspend(until: Pick<JobRow, 'dueAt' | 'waitsFor'>): Suspended {
    this.#suspension ??= new Suspended(until)
    return this.#suspension
  }
}

function checkName(name: string): void {
  if (!/^[^\0]{1,200}$/u.test(name))
    throw new TypeError('Steps and signals have names of 1 to 200 characters')
}
