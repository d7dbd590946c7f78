import { StoreError } from '../errors.ts'

/** Lets operations in until it is closed, and knows when the last of them has left. */
export class Gate {
  #open = true
  #inside = 0
  #empty: (() => void) | undefined

  /** Throws `STORE_CLOSED` once the gate is closed. */
  check(): void {
    if (!this.#open) {
      throw new StoreError('STORE_CLOSED', 'The store is closed. Open it again before using it.')
    }
  }

  get isOpen(): boolean {
    return this.#open
  }

  async run<T>(operation: () => T | Promise<T>): Promise<T> {
    this.check()
    this.#inside++
    try {
      return await operation()
    } finally {
      this.#inside--
      if (this.#inside === 0) this.#empty?.()
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
}
