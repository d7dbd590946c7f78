import { StoreError } from '../errors.ts'

/** Lets operations in until it is closed, and knows when the last of them has left. */
export class Gate {
  readonly #outer: Gate | undefined
  #open = true
  #inside = 0
  #empty: (() => void) | undefined

  /** A gate behind another one lets in who may pass both. */
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
    this.#enter()
    try {
      return await operation()
    } finally {
      this.#leave()
    }
  }

  /** Lets nobody in any more; resolves when nobody is inside. */
  async close(): Promise<void> {
    this.#open = false
    if (this.#inside === 0) return
    await new Promise<void>((resolve) => {
      this.#empty = resolve
    })
  }

  #enter(): void {
    if (this.#outer) this.#outer.#enter()
    this.#inside++
  }

  #leave(): void {
    this.#inside--
    if (this.#inside === 0) this.#empty?.()
    if (this.#outer) this.#outer.#leave()
  }
}
