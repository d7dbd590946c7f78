import type { Call } from '#kernel'
import { contain } from '#kit'

/** A call under way; emptied when it ends, as a map keeps what was in it until V8 collects the old generation. */
interface Running {
  call: Call | undefined
}

/**
 * Calls under way, and the time that each may take. They all may take the same, so the call that began first is due first:
 * one timer waits for that call, and not one for each.
 */
export class Overtime {
  readonly #ms: number
  readonly #end: (call: Call) => void
  readonly #running = new Map<string, Running>()
  #timer: NodeJS.Timeout | undefined

  /** Calls `end` with each call that takes longer than so many milliseconds. */
  constructor(ms: number, end: (call: Call) => void) {
    this.#ms = ms
    this.#end = end
  }

  begin(call: Call): void {
    this.#running.set(call.id, { call })
    if (!this.#timer) this.#wait(call)
  }

  finish({ id }: Call): void {
    const running = this.#running.get(id)
    if (!running) return
    this.#running.delete(id)
    running.call = undefined
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#running.clear()
  }

  #wait(call: Call): void {
    this.#timer = setTimeout(
      contain('calls that take too long', () => this.#check()),
      Math.max(1, this.#leftTo(call)),
    )
    this.#timer.unref()
  }

  #check(): void {
    this.#timer = undefined
    for (const { call } of this.#running.values()) {
      if (!call) continue
      if (this.#leftTo(call) > 0) {
        this.#wait(call)
        return
      }
      this.finish(call)
      this.#end(call)
    }
  }

  #leftTo({ trace }: Call): number {
    return trace.started + this.#ms - performance.now()
  }
}
