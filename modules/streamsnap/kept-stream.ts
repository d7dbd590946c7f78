import type { Chunk, Completion, CompletionChunk } from '#kernel'
import { Assembler, ByteRun, ChunkReader } from '#kit'

/**
 * A stream as it is kept until its end. Unparsed events stay bytes, neighbours in one piece, until something asks for the
 * answer, which is after the client has it: many streams at once are then few objects that live long.
 */
export class KeptStream {
  readonly #answer = new Assembler()
  /** The events that are not in the answer yet, in order: bytes that nothing comes between, and chunks. */
  #waiting: (ByteRun[] | CompletionChunk)[] = []
  #isEmpty = true

  add(chunk: Chunk): void {
    this.#isEmpty = false
    if (!chunk.seen && chunk.raw) this.#wait(chunk.raw)
    else if (this.#waiting.length > 0) this.#waiting.push(chunk.data)
    else this.#answer.add(chunk.data)
  }

  /** The answer so far; undefined when nothing came. Throws each time when there is an event that cannot be read. */
  completion(): Completion | undefined {
    if (this.#isEmpty) return undefined
    const chunks = this.#read()
    this.#waiting = []
    for (const data of chunks) this.#answer.add(data)
    return this.#answer.completion()
  }

  #wait(raw: Buffer): void {
    const last = this.#waiting.at(-1)
    if (!Array.isArray(last)) this.#waiting.push([new ByteRun(raw)])
    else if (!last.at(-1)!.extend(raw)) last.push(new ByteRun(raw))
  }

  #read(): CompletionChunk[] {
    const reader = new ChunkReader()
    return this.#waiting.flatMap((part) => (Array.isArray(part) ? [...reader.joined(joined(part))] : [part]))
  }
}

/** Events of a stream that came slowly are a piece each. */
const joined = (runs: readonly ByteRun[]): Buffer =>
  runs.length === 1 ? runs[0]!.bytes : Buffer.concat(runs.map(({ bytes }) => bytes))
