import { contain, tellContained } from './contain.ts'

/** With fewer calls under way than this there is hardly ever another one to wait for. */
const worthwhile = 4

/**
 * Lets calls take the same steps together. What becomes ready in one turn of the event loop goes on at its end, side by
 * side and in step, so that the code of a step runs for many calls while the processor has it at hand; call after call,
 * each from end to end, every step would have to be fetched anew. Known as cohort scheduling (Larus and Parkes, 2002).
 */
export class Cohort {
  #members = 0
  #ready: (() => void)[] = []

  /** Counts a call as under way, until `leave`. */
  enter(): void {
    this.#members += 1
  }

  leave(): void {
    this.#members -= 1
  }

  /** Calls `go` at the end of this turn, before anything new is read; at once while few calls are under way. */
  gather(go: () => void): void {
    if (this.#members < worthwhile) {
      go()
      return
    }
    if (this.#ready.length === 0) setImmediate(this.#release)
    this.#ready.push(go)
  }

  /** One that fails keeps no other waiting. */
  readonly #release = contain('a cohort', (): void => {
    const ready = this.#ready
    this.#ready = []
    for (const go of ready) {
      try {
        go()
      } catch (error) {
        tellContained('a cohort', error)
      }
    }
  })
}
