import {
  type Chunk,
  contentBlocked,
  type Filter,
  type GatewayError,
  type Out,
  type PolicyCheck,
} from '#kernel'
import { Assembler } from '#kit'

/** Bytes of a stream that are held back at the most. */
const mostBytes = 16 * 1024 * 1024
/** Estimated size of a chunk that has no bytes. */
const unknownBytes = 256

/**
 * Shows policies the whole answer of a stream. Of an answer that may be refused or redacted then, nothing leaves before that, or
 * nothing from the first call of a tool on.
 */
export class Judging implements Filter {
  readonly #how: ReturnType<PolicyCheck['judges']>
  readonly #judge: (body: ReturnType<Assembler['completion']>) => GatewayError | undefined
  readonly #answer = new Assembler()
  readonly #held: Chunk[] = []
  #bytes = 0
  #isHolding: boolean
  #isOver = false

  /** `judge` returns the refusal that an answer deserves. */
  constructor(
    how: ReturnType<PolicyCheck['judges']>,
    judge: (body: ReturnType<Assembler['completion']>) => GatewayError | undefined,
  ) {
    this.#how = how
    this.#judge = judge
    this.#isHolding = how === 'before'
  }

  push(chunk: Chunk, out: Out): void {
    if (this.#isOver) {
      out.emit(chunk)
      return
    }
    this.#bytes += chunk.raw?.length ?? unknownBytes
    if (this.#bytes > mostBytes) {
      this.#giveUp(chunk, out)
      return
    }
    this.#answer.add(chunk.data)
    this.#isHolding ||= this.#how === 'calls' && callsTool(chunk)
    if (this.#isHolding) this.#held.push(chunk)
    else out.emit(chunk)
  }

  end(out: Out): void {
    if (this.#isOver) return
    const refusal = this.#judge(this.#answer.completion())
    if (refusal) out.fail(refusal)
    else for (const chunk of this.#held) out.emit(chunk)
  }

  /** An answer that is too long to be seen whole is refused where a policy would have to act on it. */
  #giveUp(chunk: Chunk, out: Out): void {
    this.#isOver = true
    this.#held.length = 0
    if (this.#how === 'beside') out.emit(chunk)
    else out.fail(contentBlocked('The answer is too long for the trust policies of the operator.'))
  }
}

const callsTool = ({ data }: Chunk): boolean =>
  data.choices.some(({ delta }) => (delta?.tool_calls?.length ?? 0) > 0 || delta?.function_call !== undefined)
