import { type Countdown, Countdowns } from './countdown.ts'
import { HookFault } from './hook-fault.ts'

/** The time limits of a module's hooks that a call awaits. */
export class Deadlines {
  limitMs: number
  readonly #countdowns = new Countdowns()

  constructor(limitMs: number) {
    this.limitMs = limitMs
  }

  /** The promise, or a failure when it takes too long. */
  within<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const countdown = this.overdue(reject)
      countdown.set(this.limitMs)
      const done = (value: T): void => {
        countdown.clear()
        resolve(value)
      }
      const failed = (error: unknown): void => {
        countdown.clear()
        reject(error)
      }
      promise.then(done, failed)
    })
  }

  /** A countdown, not yet set, that fails when the hook has not answered in time. */
  overdue(fail: (error: Error) => void): Countdown {
    return this.#countdowns.make((_, ms) => fail(new HookFault(`no answer within ${ms} ms`)))
  }
}
