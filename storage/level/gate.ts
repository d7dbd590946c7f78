import { StoreError } from '../errors.ts'
import { asDamage } from './damage.ts'

/**
 * Lets operations in until it is closed, and knows when the last of them has left. It can be held for a while: then
 * operations wait before it, or are refused.
 */
export class Gate {
  readonly #outer: Gate | undefined
  #open = true
  #inside = 0
  #empty: PromiseWithResolvers<void> | undefined
  #hold: PromiseWithResolvers<void> | undefined

  /** A gate behind another one; an operation must pass both. */
  constructor(outer?: Gate) {
    this.#outer = outer
  }

  /** Throws `STORE_CLOSED` once the gate is closed. */
  check(): void {
    if (!this.isOpen) {
      throw new StoreError('STORE_CLOSED', 'The store is closed. Open it again before using it.')
    }
  }

  get isOpen(): boolean {
    return this.#open && (this.#outer?.isOpen ?? true)
  }

  async run<T>(operation: () => T | Promise<T>): Promise<T> {
    this.check()
    for (let hold = this.#held(); hold; hold = this.#held()) await hold.promise
    return this.within(operation)
  }

  /** Like `run`, for an operation that is already inside the outer gate: enters in this turn, even while the gates are held. */
  async within<T>(operation: () => T | Promise<T>): Promise<T> {
    this.check()
    this.#enter()
    try {
      return await operation()
    } catch (error) {
      throw asDamage(error)
    } finally {
      this.#leave()
    }
  }

  /** Makes operations wait from now on; resolves when none is running. */
  hold(): Promise<void> {
    this.#hold = Promise.withResolvers()
    this.#hold.promise.catch(() => {})
    return this.#emptied()
  }

  /** Ends a hold: waiting and later operations may enter, or are refused with this error. */
  release(refusal?: StoreError): void {
    const hold = this.#hold
    if (refusal) {
      hold?.reject(refusal)
      return
    }
    this.#hold = undefined
    hold?.resolve()
  }

  /** Refuses operations from now on; resolves when none is running. */
  close(): Promise<void> {
    this.#open = false
    return this.#emptied()
  }

  #held(): PromiseWithResolvers<void> | undefined {
    return this.#hold ?? (this.#outer ? this.#outer.#held() : undefined)
  }

  #emptied(): Promise<void> {
    if (this.#inside === 0) return Promise.resolve()
    this.#empty ??= Promise.withResolvers()
    return this.#empty.promise
  }

  #enter(): void {
    if (this.#outer) this.#outer.#enter()
    this.#inside++
  }

  #leave(): void {
    this.#inside--
    if (this.#inside === 0) {
      this.#empty?.resolve()
      this.#empty = undefined
    }
    if (this.#outer) this.#outer.#leave()
  }
}
