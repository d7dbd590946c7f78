import { Countdowns } from '#kernel'

/** Why code of a job stops before its time: its instance goes, its time is up, or the job is in other hands. */
export type Stop = 'released' | 'overdue' | 'lost'

export const reasons: Readonly<Record<Stop, string>> = {
  released: 'The plugin that runs the job goes',
  overdue: 'The job took longer than it may',
  lost: 'The job was cancelled',
}

/** How long code may go on after it had to stop, in milliseconds; less than a plugin may take to release it. */
const graceMs = 8_000

/** Code of a plugin that can be stopped; after that, its end is awaited only for a while. */
export class Stopping {
  readonly #abort = new AbortController()
  readonly #countdowns = new Countdowns()
  readonly #time = this.#countdowns.make(() => this.stop('overdue'))
  readonly #grace = this.#countdowns.make(() => this.#left.resolve())
  readonly #left = Promise.withResolvers<void>()
  #why: Stop | undefined

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The reason why it had to stop; undefined when it did not have to. */
  get why(): Stop | undefined {
    return this.#why
  }

  /** The first reason counts, but that the job was taken away counts more. */
  stop(why: Stop): void {
    if (this.#why === undefined) {
      this.#abort.abort(new Error(reasons[why]))
      this.#grace.set(graceMs)
    }
    if (this.#why === undefined || why === 'lost') this.#why = why
  }

  /** Awaits code that may take so many milliseconds; undefined when it had to stop and did not in time. */
  async within<T>(ms: number, run: () => Promise<T>): Promise<T | undefined> {
    this.#time.set(ms)
    try {
      return (await Promise.race([run(), this.#left.promise])) ?? undefined
    } finally {
      this.#time.clear()
      this.#grace.clear()
    }
  }
}
