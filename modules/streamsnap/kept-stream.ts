import type { Chunk, Completion } from '#kernel'
import { Assembler, readChunks } from '#kit'

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
    this.#isEmpty = false
    if (chunk.seen && this.#waiting.length === 0) this.#answer.add(chunk.seen)
    else this.#waiting.push(chunk)
  }

  /** The answer so far; undefined when nothing came. Throws each time when there is an event that cannot be read. */
  completion(): Completion | undefined {
    if (this.#isEmpty) return undefined
    const chunks = [...readChunks(this.#waiting)]
    this.#waiting = []
    for (const data of chunks) this.#answer.add(data)
    return this.#answer.completion()
  }
}
