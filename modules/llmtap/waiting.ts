import type { TraceSummary } from '#kernel'

/** Traces that were read together, without those that are not written down. */
export interface Batch {
  readonly traces: readonly TraceSummary[]
  /** The place behind all that were read. */
  readonly after: string
}

/** Batches that wait to be written, the oldest first. */
export class Waiting {
  #batches: Batch[] = []

  get first(): Batch | undefined {
    return this.#batches[0]
  }

  /** The place behind the last one. */
  get end(): string | undefined {
    return this.#batches.at(-1)?.after
  }

  /** How many records wait. */
  get count(): number {
    return this.#batches.reduce((sum, { traces }) => sum + traces.length, 0)
  }

  /** Adds the batch that was read next. One without records only moves the end. */
  add(batch: Batch): void {
    const last = this.#batches.at(-1)
    if (last && batch.traces.length === 0)
      this.#batches[this.#batches.length - 1] = { ...last, after: batch.after }
    else this.#batches.push(batch)
  }

  /** Leaves these of the first batch, as the others are written. */
  leave(traces: readonly TraceSummary[]): void {
    this.#batches[0] = { ...this.#batches[0]!, traces }
  }

  /** The first batch is done. */
  shift(): void {
    this.#batches.shift()
  }

  /** Drops the oldest batches until no more than `most` records wait; returns how many these had, and the place behind them. */
  dropOver(most: number): { readonly dropped: number; readonly behind: string } | undefined {
    let dropped = 0
    let behind: string | undefined
    while (this.count > most && this.#batches.length > 1) {
      const oldest = this.#batches.shift()!
      dropped += oldest.traces.length
      behind = oldest.after
    }
    return behind === undefined ? undefined : { dropped, behind }
  }
}
