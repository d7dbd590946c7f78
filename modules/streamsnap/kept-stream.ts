import type { Chunk, Completion, CompletionChunk } from '#kernel'
import { Assembler, eventsOf, readable, readChunks } from '#kit'

/**
 * A stream as it is kept until its end. Unparsed events stay bytes until something asks for the answer, which is after the
 * client has it: many streams at once are then few objects that live long.
 */
export class KeptStream {
  readonly #answer = new Assembler()
  /** What is not in the answer yet, in order. */
  #waiting: Chunk[] = []
  #isEmpty = true

  add(chunk: Chunk): void {
    if (chunk.seen && this.#waiting.length === 0) this.#read(chunk.seen)
    else this.#waiting.push(chunk)
  }

  /** The answer so far, without events that cannot be read; undefined when none came that can. */
  completion(): Completion | undefined {
    const waiting = this.#waiting
    this.#waiting = []
    for (const data of dataOf(waiting)) this.#read(data)
    return this.#isEmpty ? undefined : this.#answer.completion()
  }

  #read(data: CompletionChunk): void {
    this.#isEmpty = false
    this.#answer.add(data)
  }
}

/** The data of chunks, read together where all of them can be read, and event by event where not. */
function dataOf(chunks: readonly Chunk[]): readonly CompletionChunk[] {
  const all = readable(() => [...readChunks(chunks)])
  return all ?? chunks.flatMap(eventsOf).flatMap((event) => readable(() => event.data) ?? [])
}
