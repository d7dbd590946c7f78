import { ensure } from '../ensure.ts'

/** Sets for different callers that are kept ready. */
const mostSets = 1000

/** What is made of several rules together, made once for each choice of them, as the same rules hold for many calls. */
export class KeptSets<R extends object, S> {
  readonly #make: (rules: readonly R[]) => S
  readonly #sets = new Map<string, S>()
  /** Tells rules apart, also those that had one id after another. */
  readonly #serials = new WeakMap<R, number>()
  #lastSerial = 0

  constructor(make: (rules: readonly R[]) => S) {
    this.#make = make
  }

  /** The set of these rules; undefined for none. */
  of(rules: readonly R[]): S | undefined {
    if (rules.length === 0) return undefined
    const key = rules.map((rule) => this.#serialOf(rule)).join()
    return ensure(this.#sets, key, () => this.#make(rules), mostSets)
  }

  /** Forgets all sets, as when a rule has changed. */
  clear(): void {
    this.#sets.clear()
  }

  #serialOf(rule: R): number {
    const known = this.#serials.get(rule)
    if (known !== undefined) return known
    this.#lastSerial += 1
    this.#serials.set(rule, this.#lastSerial)
    return this.#lastSerial
  }
}
