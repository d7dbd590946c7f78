import { detach } from '#kit'
import type { Cancellation } from './row.ts'
import type { RunParts } from './run.ts'
import { currentKind, type JobsState } from './state.ts'
import { Telling } from './telling.ts'

interface CancellationsParts extends RunParts {
  readonly state: JobsState
}

/** Cancelled jobs whose plugins do not know it yet: each is told as soon as it answers calls. */
export class Cancellations {
  readonly #parts: CancellationsParts
  readonly #untold = new Map<string, Cancellation>()

  constructor(parts: CancellationsParts) {
    this.#parts = parts
  }

  /** Notes those of all threads, and calls `wake` for each. Returns what ends that. */
  watch(wake: () => void): () => void {
    return this.#parts.table.cancellations.watch(({ id, row }) => {
      if (!row) return void this.#untold.delete(id)
      this.#untold.set(id, row)
      wake()
    })
  }

  /** Notes all that are on disk: those of a process that is gone, and those that could not be told. */
  async read(): Promise<void> {
    for await (const [id, row] of this.#parts.table.cancellations.scan()) this.#untold.set(id, row)
  }

  /** Begins to tell those whose plugins are there. While it is called no job begins. */
  tell(): void {
    const { state } = this.#parts
    for (const [id, cancellation] of this.#untold) {
      const kind = currentKind(state, cancellation.kind)
      if (!kind || state.tellings.has(id)) continue
      this.#untold.delete(id)
      const telling = new Telling(id, cancellation, { ...this.#parts, kind, run: state.runs.get(id) })
      state.tellings.add(id)
      kind.runs.add(telling)
      const failed = (err: unknown): void =>
        this.#parts.log.error({ err, job: id }, 'what a plugin was told of a job could not be recorded')
      const ended = telling.run().catch(failed)
      const left = ended.finally(() => {
        kind.runs.delete(telling)
        state.tellings.delete(id)
        // For its successor, unless the plugin has heard it by now.
        if (telling.isReleased) this.#untold.set(id, cancellation)
        state.wake()
      })
      detach('a cancelled job', left)
    }
  }
}
