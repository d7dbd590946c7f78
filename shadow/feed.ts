import type { Chunk } from '../kit/canonical/chunk.ts'

/** A stream was ended early, which is not a failure of the module. */
export class BrokenOff extends Error {
  constructor() {
    super('the stream broke off')
    this.name = 'BrokenOff'
  }
}

/** A stream that is read at a different pace than it is written: a slow reader does not delay the writer. */
export class Feed implements AsyncIterable<readonly Chunk[]> {
  #batch: Chunk[] = []
  #over = false
  #error: unknown
  #wake: (() => void) | undefined

  push(chunk: Chunk): void {
    if (this.#over) return
    this.#batch.push(chunk)
    this.#notify()
  }

  /** Nothing more comes, for this reason if there is one. */
  end(error?: unknown): void {
    if (this.#over) return
    this.#over = true
    this.#error = error
    this.#notify()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly Chunk[]> {
    for (;;) {
      if (this.#batch.length > 0) {
        const batch = this.#batch
        this.#batch = []
        yield batch
      } else if (this.#over) {
        if (this.#error !== undefined) throw this.#error
        return
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  #notify(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}
