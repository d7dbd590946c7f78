import { Chunk, finishChunk } from '../../kit/canonical/chunk.ts'
import type { CompletionChunk, FinishReason } from '../../kit/canonical/forms.ts'
import { passInParts } from '../../kit/canonical/parts-of-chunk.ts'
import type { GatewayError } from '../../kit/errors.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'

/** Where a filter puts what may go on. */
export interface Out {
  emit(chunk: Chunk): void
  /**
   * Ends these choices (the first, if none are named) here with this reason: later chunks are dropped and the provider is
   * stopped.
   */
  finish(reason: FinishReason, choices?: Iterable<number>): void
  /** Ends the answer here with an in-band error. */
  fail(error: GatewayError): void
}

/**
 * A transform over the chunks of one answer. Synchronous, so that a stream of thousands of chunks through a dozen
 * filters costs no promise. A chunk that goes on as it came keeps its bytes.
 */
export interface Filter {
  push(chunk: Chunk, out: Out): void
  /** The answer is complete: let go of what was held back. */
  end?(out: Out): void
}

/** Passes batches through filters, first filter first. */
export function filterStream(
  source: AsyncIterable<readonly Chunk[]>,
  filters: readonly Filter[],
): AsyncIterable<readonly Chunk[]> {
  return { [Symbol.asyncIterator]: () => new Filtering(source, filters) }
}

class Filtering implements AsyncIterator<readonly Chunk[]> {
  readonly #source: AsyncIterator<readonly Chunk[]>
  readonly #stages: Stage[]
  #batch: Chunk[] = []
  #stopped = false
  #failure: GatewayError | undefined
  readonly #pass = (chunk: Chunk): void => this.enter(0, chunk)

  constructor(source: AsyncIterable<readonly Chunk[]>, filters: readonly Filter[]) {
    this.#source = source[Symbol.asyncIterator]()
    this.#stages = filters.map((filter, i) => new Stage(filter, i, this))
  }

  async next(): Promise<IteratorResult<readonly Chunk[], undefined>> {
    while (!this.#stopped) {
      const step = await this.#source.next()
      try {
        if (step.done) this.stop(-1)
        else
          for (const chunk of step.value) {
            const passing = passInParts(chunk, this.#pass)
            if (passing) await passing
          }
      } catch (error) {
        await this.return()
        throw error
      }
      if (this.#batch.length > 0) return { done: false, value: this.#take() }
    }
    await this.#source.return?.()
    const failure = this.#failure
    this.#failure = undefined
    if (failure) throw failure
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<readonly Chunk[], undefined>> {
    this.#stopped = true
    await this.#source.return?.()
    return { done: true, value: undefined }
  }

  /** Hands a chunk to the filter at this place, or out of the last one. */
  enter(place: number, chunk: Chunk): void {
    if (this.#stopped) return
    const stage = this.#stages[place]
    if (stage) stage.push(chunk)
    else this.#batch.push(chunk)
  }

  /**
   * Ends the answer for a filter; `last` is the chunk that the filters after it still get. The filters before it learn of the
   * end as well, but the text that they still hold is dropped, since it would come after the end.
   */
  stop(place: number, last?: Chunk, failure?: GatewayError): void {
    if (this.#stopped) return
    // A filter further on may fail the answer while it lets go of what it held; that failure is then the answer's.
    if (last) this.enter(place + 1, last)
    for (const stage of this.#stages.slice(place + 1)) stage.end()
    this.#failure ??= failure
    this.#stopped = true
    for (const stage of this.#stages) stage.end()
  }

  #take(): Chunk[] {
    const batch = this.#batch
    this.#batch = []
    return batch
  }
}

/** One filter in its place; also the `out` it writes to. */
class Stage implements Out {
  readonly #filter: Filter
  readonly #place: number
  readonly #run: Filtering
  #current: Chunk | undefined
  #ended = false

  constructor(filter: Filter, place: number, run: Filtering) {
    this.#filter = filter
    this.#place = place
    this.#run = run
  }

  push(chunk: Chunk): void {
    if (this.#ended) return
    this.#current = chunk
    this.#filter.push(chunk, this)
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#filter.end?.(this)
  }

  emit(chunk: Chunk): void {
    // Past this point, a value that is not a chunk would count as another filter's failure.
    if (!(chunk instanceof Chunk)) throw new HookFault('a filter emitted something that is not a chunk')
    this.#run.enter(this.#place + 1, chunk)
  }

  finish(reason: FinishReason, choices: Iterable<number> = [0]): void {
    this.#run.stop(this.#place, finishChunk(this.#current?.data ?? blank, choices, reason))
  }

  fail(error: GatewayError): void {
    this.#run.stop(this.#place, undefined, error)
  }
}

const blank: CompletionChunk = { object: 'chat.completion.chunk', choices: [] }
