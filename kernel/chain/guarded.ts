import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { GatewayError } from '../../kit/errors.ts'
import type { Call } from '../call/call.ts'
import type { Filter, Out } from '../stream/filter.ts'
import { type Entry, handleFailure, recordRun } from './entry.ts'

/** A module's filter under its failure policy: when it breaks, the stream goes on without it, or ends. */
export class Guarded implements Filter {
  readonly #entry: Entry
  readonly #filter: Filter
  readonly #call: Call
  readonly #hook: string
  #ms = 0
  #broken = false

  constructor(entry: Entry, filter: Filter, call: Call, hook: string) {
    this.#hook = hook
    this.#entry = entry
    this.#filter = filter
    this.#call = call
  }

  push(chunk: Chunk, out: Out): void {
    if (this.#broken) {
      out.emit(chunk)
      return
    }
    const started = performance.now()
    try {
      this.#filter.push(chunk, out)
    } catch (error) {
      if (this.#survive(error, out)) out.emit(chunk)
    }
    this.#ms += performance.now() - started
  }

  end(out: Out): void {
    try {
      if (!this.#broken) this.#filter.end?.(out)
    } catch (error) {
      this.#survive(error, out)
    }
    recordRun(this.#entry, this.#hook, this.#ms, this.#call)
  }

  #survive(error: unknown, out: Out): boolean {
    this.#broken = true
    try {
      handleFailure(this.#entry, this.#hook, error, this.#call)
      return true
    } catch (refusal) {
      out.fail(refusal as GatewayError)
      return false
    }
  }
}
