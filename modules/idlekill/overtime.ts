import type { Call } from '#kernel'

/**
 * Calls under way, and the time that each may take. They all may take the same, so whoever began first is due first:
 * one timer waits for that call, and not one for each.
 */
export class Overtime {
  readonly #ms: number
  readonly #end: (call: Call) => void
  readonly #running = new Map<string, Call>()
  #timer: NodeJS.Timeout | undefined

  /** Calls `end` with each call that takes longer than so many milliseconds. */
  constructor(ms: number, end: (call: Call) => void) {
    this.#ms = ms
    this.#end = end
  }

  begin(call: Call): void {
    this.#running.set(call.id, call)
    if (!this.#timer) this.#wait(call)
  }

  finish({ id }: Call): void {
    this.#running.delete(id)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#running.clear()
  }

  #wait(call: Call): void {
    this.#timer = setTimeout(() => this.#check(), Math.max(1, this.#leftTo(call)))
    this.#timer.unref()
  }

  #check(): void {
    this.#timer = undefined
    for (const call of this.#running.values()) {
      if (this.#leftTo(call) > 0) {
        this.#wait(call)
        return
      }
      this.#running.delete(call.id)
      this.#end(call)
    }
  }

  #leftTo({ trail }: Call): number {
    return trail.started + this.#ms - performance.now()
  }
}
