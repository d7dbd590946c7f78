import type { Filter, Out } from '../../kernel/stream/filter.ts'
import { Assembler } from '../canonical/assemble.ts'
import type { Chunk } from '../canonical/chunk.ts'
import type { Completion } from '../canonical/forms.ts'
import { type GatewayError, isGatewayError } from '../errors.ts'

/** Bytes of a stream that are kept at the most. */
const mostBytes = 16 * 1024 * 1024
/** Estimated size of a chunk that has no bytes. */
const unknownBytes = 256

export interface Judge {
  /** Whether nothing leaves from this chunk on; asked of each chunk until it says so. */
  holdsFrom(chunk: Chunk): boolean
  /** What `judge` is shown: the whole answer, or what was held back of it. */
  readonly sees: 'all' | 'held'
  /** At the end of the answer: the chunks to send in place of those held back, or the error that is its end. */
  judge(answer: Completion, held: readonly Chunk[]): readonly Chunk[] | GatewayError
  /** The end of an answer too long to be kept, at 16 MB; without one, it passes without being judged. */
  tooLong(): GatewayError | undefined
}

/** Holds back a stream from some chunk on until its end, shows it to a judge, and sends what the judge makes of it. */
export class HeldAnswer implements Filter {
  readonly #judge: Judge
  readonly #answer = new Assembler()
  readonly #held: Chunk[] = []
  #bytes = 0
  #isHolding = false
  #isOver = false

  constructor(judge: Judge) {
    this.#judge = judge
  }

  push(chunk: Chunk, out: Out): void {
    this.#isHolding ||= !this.#isOver && this.#judge.holdsFrom(chunk)
    if (this.#isOver || (!this.#isHolding && this.#judge.sees === 'held')) {
      out.emit(chunk)
      return
    }
    this.#bytes += chunk.raw?.length ?? unknownBytes
    if (this.#bytes > mostBytes) {
      this.#giveUp(chunk, out)
      return
    }
    this.#answer.add(chunk.data)
    if (this.#isHolding) this.#held.push(chunk)
    else out.emit(chunk)
  }

  end(out: Out): void {
    if (this.#isOver || (!this.#isHolding && this.#judge.sees === 'held')) return
    const judged = this.#judge.judge(this.#answer.completion(), this.#held)
    if (isGatewayError(judged)) out.fail(judged)
    else for (const chunk of judged) out.emit(chunk)
  }

  #giveUp(chunk: Chunk, out: Out): void {
    this.#isOver = true
    const error = this.#judge.tooLong()
    if (error) out.fail(error)
    else for (const kept of [...this.#held, chunk]) out.emit(kept)
    this.#held.length = 0
  }
}

/** Whether a chunk has a part of a tool call, in whatever form. */
export const callsTool = ({ data }: Chunk): boolean =>
  data.choices.some(
    ({ delta }) =>
      (delta?.tool_calls?.length ?? 0) > 0 ||
      (delta?.function_call !== undefined && delta.function_call !== null),
  )
