import type { Call, Chunk, Completion, Filter, Out } from '#kernel'
import { Assembler } from '#kit'

/** Bytes of a stream that are put together; a longer answer is not looked at. */
const mostBytes = 4_194_304
/** Of a chunk that has no bytes. */
const unknownBytes = 256

/** Puts a streamed answer together where no other module does. Chunks pass as they are. */
export class Collector implements Filter {
  readonly #trace: Call['trace']
  readonly #assembler = new Assembler()
  #bytes = 0

  constructor(trace: Call['trace']) {
    this.#trace = trace
  }

  push(chunk: Chunk, out: Out): void {
    if (this.#trace.body === undefined && this.#bytes <= mostBytes) {
      this.#bytes += chunk.raw?.length ?? unknownBytes
      this.#assembler.add(chunk.data)
    }
    out.emit(chunk)
  }

  /** The answer; undefined when nothing was put together, or not all. */
  completion(): Completion | undefined {
    return this.#bytes > 0 && this.#bytes <= mostBytes ? this.#assembler.completion() : undefined
  }
}
