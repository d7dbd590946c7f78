import { inTime } from './in-time.ts'

type Release = () => unknown

/** Owns what a plugin acquired, and gives it back in reverse order, each thing once. */
export class Scope {
  readonly name: string
  readonly #limitMs: number | undefined
  readonly #controller = new AbortController()
  readonly #releases: Release[] = []
  #disposed: Promise<void> | undefined

  /** `limitMs`: how long each thing may take to be given back before the next one has its turn; for ever without it. */
  constructor(name: string, limitMs?: number) {
    this.name = name
    this.#limitMs = limitMs
  }

  /** Aborts when the scope is disposed. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Takes over a release. On a closed scope it runs at once, and acquiring is an error. */
  own(release: Release): void {
    if (this.#disposed) {
      release()
      throw new Error(`${this.name} is disposed; nothing can be acquired through it`)
    }
    this.#releases.push(release)
  }

  /** Does work that may fail once the scope is disposed: there is nothing that it could have done then. */
  tryWork(work: () => unknown): unknown {
    const failed = (error: unknown): void => {
      if (!this.#disposed) throw error
    }
    try {
      const result = work()
      return result instanceof Promise ? result.catch(failed) : result
    } catch (error) {
      return failed(error)
    }
  }

  /** Releases everything, last acquired first; failures are collected and thrown together at the end. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#release()
    return this.#disposed
  }

  async #release(): Promise<void> {
    this.#controller.abort(new Error(`${this.name} is disposed`))
    const failures: unknown[] = []
    for (const release of this.#releases.splice(0).reverse()) {
      try {
        const released = release()
        await (this.#limitMs === undefined ? released : inTime(released, this.#limitMs, 'its release'))
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${this.name} could not release everything`)
  }
}
