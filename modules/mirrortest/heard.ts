import type { Attempt, Call, Completion, Filter, Reply } from '#kernel'
import { Assembler } from '#kit'

/** The answer to a call, kept for a comparison. */
export class Heard {
  /** The call as it was sent on. */
  readonly call: Call
  /** The attempt that answered. */
  readonly attempt: Attempt | undefined
  readonly #whole: Completion | undefined
  readonly #assembler = new Assembler()
  readonly #began: number
  /** From the request to the last byte so far. */
  latencyMs: number

  constructor(call: Call, reply: Reply, began: number) {
    this.call = call
    this.attempt = reply.attempt
    this.#whole = reply.kind === 'whole' ? reply.body : undefined
    this.#began = began
    this.latencyMs = performance.now() - began
  }

  /** What has come so far. */
  get body(): Completion {
    return this.#whole ?? this.#assembler.completion()
  }

  /** Listens to a stream on its way. */
  filter(): Filter {
    return {
      push: (chunk, out) => {
        this.#assembler.add(chunk.data)
        this.latencyMs = performance.now() - this.#began
        out.emit(chunk)
      },
    }
  }
}
