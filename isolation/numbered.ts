/** Which side of the thread a thing was made on. */
export type Side = 'host' | 'guest'

/** Things that both sides know by number: those of the host count up from 1, those of the guest down from -1. */
export class Numbered<T> {
  readonly #step: 1 | -1
  readonly #things = new Map<number, T>()
  readonly #numbers = new Map<T, number>()
  #last = 0

  constructor(side: Side) {
    this.#step = side === 'host' ? 1 : -1
  }

  /** The number of a thing; a new one for a thing that has none. */
  numberOf(thing: T): number {
    const known = this.#numbers.get(thing)
    if (known !== undefined) return known
    this.#last += this.#step
    this.set(this.#last, thing)
    return this.#last
  }

  has(thing: T): boolean {
    return this.#numbers.has(thing)
  }

  get(number: number): T | undefined {
    return this.#things.get(number)
  }

  /** Takes in a thing under the number that the other side gave it. */
  set(number: number, thing: T): T {
    this.#things.set(number, thing)
    this.#numbers.set(thing, number)
    return thing
  }

  forget(number: number): void {
    this.#numbers.delete(this.#things.get(number)!)
    this.#things.delete(number)
  }

  values(): Iterable<T> {
    return this.#things.values()
  }
}
