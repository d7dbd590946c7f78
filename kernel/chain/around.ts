import type { Countdown } from '../../kit/work/countdown.ts'
import type { Call } from '../call/call.ts'
import type { Reply } from '../call/reply.ts'
import { KeptReply } from '../stream/kept-reply.ts'
import { type Entry, handleFailure, recordRewrite } from './entry.ts'
import type { Next } from './hooks.ts'
import { checkedReply } from './returned.ts'

/**
 * Runs an `around`. Errors from inside pass as they are, whichever of them it lets through. Its own errors fall under its
 * failure policy: an answer that exists already is used, one that is under way is awaited, and a failure inside stays the
 * failure.
 *
 * Its time is the time in which nothing runs inside it. That time is bounded, but not held to the budget of other hooks: an
 * `around` exists to wait, for a retry or for its turn.
 */
export async function runAround(entry: Entry, call: Call, next: Next): Promise<Reply> {
  const errors: unknown[] = []
  let kept: KeptReply | undefined
  let pending: Promise<Reply> | undefined
  let asked = false
  const time = new OwnTime(entry)
  const watched: Next = async (to) => {
    time.leave()
    asked = true
    recordRewrite(entry, call, to)
    const made = next(to)
    pending = made
    try {
      const reply = await made
      kept?.release()
      kept = new KeptReply(reply)
      return kept.reply
    } catch (error) {
      errors.push(error)
      throw error
    } finally {
      if (pending === made) pending = undefined
      time.enter()
    }
  }
  try {
    const answer = checkedReply(await time.bound(entry.hooks.around!(call, watched)))
    if (!asked && !call.trace.notes.some(({ module }) => module === entry.id))
      call.trace.note(entry.id, 'answered')
    kept?.release()
    return answer
  } catch (error) {
    if (errors.includes(error)) throw error
    call.cancel.check()
    handleFailure(entry, 'around', error, call)
    if (kept) return kept.again()
    if (pending) return await pending
    if (errors.length > 0) throw errors.at(-1)
    return next(call)
  } finally {
    time.end(call)
  }
}

/**
 * Runs an `around` once what is inside has failed, and else not at all: its first `next` for the same call is given that failure.
 * `first` is asked in place of the first `next`.
 */
export async function aroundFailure(entry: Entry, call: Call, next: Next, first: Next): Promise<Reply> {
  try {
    return await first(call)
  } catch (error) {
    let isGiven = false
    return runAround(entry, call, (to) => {
      if (isGiven || to !== call) return next(to)
      isGiven = true
      return Promise.reject(error)
    })
  }
}

/** What the `around` of an entry has to do with a call; nothing where the module fails over the question. */
export function wraps(entry: Entry, call: Call): boolean | 'failures' {
  try {
    return entry.hooks.wraps?.(call) ?? true
  } catch (error) {
    handleFailure(entry, 'wraps', error, call)
    return false
  }
}

/** The time an `around` takes for itself. */
class OwnTime {
  readonly #entry: Entry
  #since = performance.now()
  #ms = 0
  #inside = 0
  #countdown: Countdown | undefined
  #over: Error | undefined

  constructor(entry: Entry) {
    this.#entry = entry
  }

  /** The promise, or a failure when its own time runs out; its requests after that are refused. */
  bound(promise: Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#countdown = this.#entry.meter.deadlines.overdue((error) => {
        this.#over = error
        reject(error)
      })
      if (this.#inside === 0) this.#count()
      Promise.resolve(promise).then(resolve, reject)
    })
  }

  leave(): void {
    if (this.#over) throw this.#over
    this.#inside += 1
    if (this.#inside > 1) return
    this.#ms += performance.now() - this.#since
    this.#countdown?.clear()
  }

  enter(): void {
    this.#inside -= 1
    if (this.#inside > 0) return
    this.#since = performance.now()
    this.#count()
  }

  #count(): void {
    this.#countdown?.set(this.#entry.meter.deadlines.limitMs)
  }

  end(call: Call): void {
    const { id, meter } = this.#entry
    this.#countdown?.clear()
    this.#countdown = undefined
    if (this.#inside === 0) this.#ms += performance.now() - this.#since
    meter.add('around', this.#ms)
    call.trace.timings.push({ module: id, hook: 'around', ms: this.#ms })
  }
}
