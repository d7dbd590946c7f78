import { HookFault } from './hook-fault.ts'

/** A hook that is waited for. */
export interface Wait {
  /** Since when, on the monotonic clock; infinite while it is not the hook that takes the time. */
  since: number
  /** Gone when it is over: a set keeps what was in it until V8 collects the old generation, calls and all. */
  fail: ((error: Error) => void) | undefined
}

/** A hook did not answer in time. */
export class Overdue extends HookFault {
  constructor(ms: number) {
    super(`no answer within ${ms} ms`)
  }
}

/**
 * Hooks that are waited for, and the end of their patience. One timer looks at all of them, and only while there are
 * any: a timer for each would cost every call.
 */
export class Deadlines {
  limitMs: number
  readonly #waits = new Set<Wait>()
  #timer: NodeJS.Timeout | undefined

  constructor(limitMs: number) {
    this.limitMs = limitMs
  }

  add(fail: (error: Error) => void): Wait {
    const wait: Wait = { since: performance.now(), fail }
    this.#waits.add(wait)
    if (!this.#timer) this.#arm()
    return wait
  }

  remove(wait: Wait): void {
    this.#waits.delete(wait)
    wait.fail = undefined
  }

  /** The promise, or an Overdue when it takes too long; it may be early or late by a quarter of the limit. */
  within<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const wait = this.add(reject)
      const done = <V>(settle: (value: V) => void) => {
        return (value: V): void => {
          this.remove(wait)
          settle(value)
        }
      }
      promise.then(done(resolve), done(reject))
    })
  }

  #arm(): void {
    this.#timer = setTimeout(() => this.#check(), Math.min(1000, Math.ceil(this.limitMs / 4)))
    this.#timer.unref()
  }

  #check(): void {
    this.#timer = undefined
    const now = performance.now()
    for (const wait of this.#waits) {
      if (now - wait.since < this.limitMs) continue
      const { fail } = wait
      this.remove(wait)
      fail?.(new Overdue(this.limitMs))
    }
    if (this.#waits.size > 0) this.#arm()
  }
}
