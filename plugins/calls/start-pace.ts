import { setTimeout as sleep } from 'node:timers/promises'

/** Lets things begin one after the other, so many milliseconds apart, in the order they came; the first at once. */
export class StartPace {
  readonly #gapMs: number
  #next = 0

  constructor(gapMs: number) {
    this.#gapMs = gapMs
  }

  /** Resolves when it is this one's turn; undefined when it is right now. */
  turn(): Promise<void> | undefined {
    const now = performance.now()
    const at = Math.max(now, this.#next)
    this.#next = at + this.#gapMs
    return at === now ? undefined : sleep(at - now)
  }
}
