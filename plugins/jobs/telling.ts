import { persist } from '#kit'
import type { Cancellation, JobRow } from './row.ts'
import { outcomeOf, type Run, type RunParts, savedState } from './run.ts'
import type { Kind } from './state.ts'
import { Stopping } from './stopping.ts'

interface TellingParts extends RunParts {
  readonly kind: Kind
  /** The run of the job that there is. */
  readonly run: Run | undefined
}

/** Tells a plugin that a job was cancelled, and then records that: where the process dies in between, it is told again. */
export class Telling {
  readonly #id: string
  readonly #cancellation: Cancellation
  readonly #parts: TellingParts
  /** Code of the plugin that runs. */
  #code: Stopping | undefined
  #isReleased = false
  #ended: Promise<void> | undefined

  constructor(id: string, cancellation: Cancellation, parts: TellingParts) {
    this.#id = id
    this.#cancellation = cancellation
    this.#parts = parts
  }

  /** Whether it had to stop because its plugin goes. */
  get isReleased(): boolean {
    return this.#isReleased
  }

  stop(why: 'released' | 'lost'): void {
    if (why === 'released') this.#isReleased = true
    this.#code?.stop(why)
  }

  /** Tells it, once. Rejects when what came of it cannot be recorded. */
  run(): Promise<void> {
    this.#ended ??= this.#run()
    return this.#ended
  }

  async #run(): Promise<void> {
    const { table } = this.#parts
    if (!(await table.isUntold(this.#id, this.#cancellation))) return
    const row = await table.jobs.get(this.#id)
    // One that was tried again ends by itself.
    if (row?.status === 'cancelled') {
      await this.#stopRun()
      if (this.#isReleased || !(await this.#tell(row))) return
    }
    await persist(() => table.settle(this.#id, this.#cancellation))
  }

  /** Ends what still runs of the job, so that nothing of it comes after what the plugin does now. */
  async #stopRun(): Promise<void> {
    const { run } = this.#parts
    run?.stop('lost')
    await run?.run().catch(() => {})
  }

  /** False when it is to be told later. */
  async #tell(row: JobRow): Promise<boolean> {
    const { table, log, kind } = this.#parts
    const { definition } = kind
    if (!definition.cancelled) return true
    const { id } = row
    const { data: input, error } = definition.input.safeParse(table.contents.show(row.input))
    if (error) {
      log.error({ job: id, err: error }, 'a cancelled job fits its plugin no more, which is not told')
      return true
    }
    const code = new Stopping()
    this.#code = code
    const told = { id, input, state: savedState(row, definition, table.contents), signal: code.signal }
    const ended = await code.within(definition.timeoutMs, () => outcomeOf(() => definition.cancelled?.(told)))
    if (ended && 'value' in ended) return true
    if (!this.#isReleased)
      log.error({ job: id, err: ended?.thrown }, 'a plugin could not be told yet that its job was cancelled')
    return false
  }
}
