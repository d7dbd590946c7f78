import type { Chunk, Completion, CompletionChunk } from '#kernel'
import { Assembler, eventsOf, readable, readChunks } from '#kit'

/** Events that stay bytes together. */
const mostWaiting = 1000

/**
 * A stream as it is kept until its end. Unparsed events stay bytes until something asks for the answer, which is after the
 * client has it: many streams at once are then few objects that live long. Of a long stream the first are read while it goes on,
 * because all of them at its end would keep other calls waiting.
 */
export class KeptStream {
  readonly #answer = new Assembler()
  /** What is not in the answer yet, in order. */
  #waiting: Chunk[] = []
  #waitingEvents = 0
  #isEmpty = true

  add(chunk: Chunk): void {
    if (chunk.seen && this.#waiting.length === 0) this.#read(chunk.seen)
    else {
      this.#waiting.push(chunk)
      this.#waitingEvents += chunk.events
      if (this.#waitingEvents > mostWaiting) this.#readWaiting()
    }
  }

  /** The answer so far, without events that cannot be read; undefined when none came that can. */
  completion(): Completion | undefined {
    this.#readWaiting()
    return this.#isEmpty ? undefined : this.#answer.completion()
  }

  #readWaiting(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingEvents = 0
    for (const data of dataOf(waiting)) this.#read(data)
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
