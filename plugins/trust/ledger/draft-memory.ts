import { DraftBytes } from './draft-bytes.ts'

/** Memory of so many batches is kept, as many as are under way at once when calls are many, and none that is larger than this. */
const mostSpares = 8
const largestKept = 1024 * 1024

/**
 * Gives batches the memory of those that are written. A batch has half a megabyte and waits to be written for longer than objects stay
 * young, so that the garbage collector would leave the memory of many where it was.
 */
export class DraftMemory {
  /** What the sequence has, in its order; undefined for what is not kept, so that a backlog leaves nothing behind. */
  readonly #queued: (DraftBytes | undefined)[] = []
  readonly #spares: DraftBytes[] = []

  /** Takes memory back that is needed until the sequence, which has it behind all others now, has written what is in it. */
  giveBack(drafts: DraftBytes): void {
    const isKept = drafts.capacity <= largestKept && this.#queued.length < mostSpares
    this.#queued.push(isKept ? drafts : undefined)
  }

  /** Memory without drafts, for this many bytes. So many of the batches that the sequence has are not written yet. */
  take(bytes: number, unwritten: number): DraftBytes {
    while (this.#queued.length > unwritten) this.#keep(this.#queued.shift())
    const spare = this.#spares.pop()
    spare?.clear()
    return spare ?? new DraftBytes(bytes)
  }

  #keep(written: DraftBytes | undefined): void {
    if (written && !written.isLent && this.#spares.length < mostSpares) this.#spares.push(written)
  }
}
