import type { Step } from '../workflows/step.ts'
import { type Ended, isFatal, waiting } from './ended.ts'
import type { Journal } from './journal.ts'
import { refused } from './leaves.ts'

type Human = Pick<Extract<Step, { type: 'human' }>, 'type' | 'config' | 'on_error'>

/** Steps that people decide. They wait on disk, whatever else the run does. */
export class People {
  readonly #now: () => number
  #until = Number.POSITIVE_INFINITY

  constructor(now: () => number) {
    this.#now = now
  }

  /** Until when the first of those that are waited for can decide, in milliseconds since the epoch; infinite without a limit. */
  get until(): number {
    return this.#until
  }

  /** Waits for a person's decision, which the journal has once there is one. `question` makes what the person reads, as it is. */
  async ask(journal: Journal, step: Human, path: string, question: () => string | undefined): Promise<Ended> {
    const known = journal.row(path)
    const now = this.#now()
    if (known?.status === 'pending' && known.until !== undefined && known.until <= now) {
      const problem = { code: 'timeout', message: 'Nobody decided in time.' }
      return journal.fail(known, problem, isFatal(step))
    }
    const { timeout_s } = step.config
    const until = known?.until ?? (timeout_s === undefined ? undefined : now + timeout_s * 1000)
    if (until !== undefined) this.#until = Math.min(this.#until, until)
    if (known) return waiting
    try {
      const message = question()
      const asked = message === undefined ? undefined : { message }
      await journal.begin(path, step.type, 1, asked, { status: 'pending', ...(until && { until }) })
    } catch (error) {
      return refused(journal, step, path, error)
    }
    return waiting
  }
}
