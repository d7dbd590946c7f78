import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { Completion } from '../../kit/canonical/forms.ts'
import { deepFreeze } from '../../kit/json/deep-freeze.ts'
import type { Attempt } from './attempt.ts'
import { readOnlyAttempt } from './read-only.ts'

/** A plain answer. Until a module changes it, it keeps the provider's bytes; they are parsed on demand. */
export class WholeReply {
  readonly kind = 'whole'
  /** The wire that `raw` is written in; empty when there are no bytes. */
  readonly wire: string
  readonly #raw: Buffer | undefined
  #text: string | undefined
  #body: Completion | undefined
  #attempt: Attempt | undefined
  #isSealed = false

  private constructor(wire: string, raw: Buffer | undefined, body: Completion | undefined) {
    this.wire = wire
    this.#raw = raw
    this.#body = body
  }

  /** Bytes of a provider, known to be the JSON of this wire; `body` is what they mean where the wire is not canonical. */
  static fromBytes(wire: string, raw: Buffer, body?: Completion): WholeReply {
    return new WholeReply(wire, raw, body)
  }

  static of(body: Completion): WholeReply {
    return new WholeReply('', undefined, body)
  }

  /** Sets the attempt that gave it; for the delivery. */
  by(attempt: Attempt): this {
    this.#attempt = attempt
    return this
  }

  /** The attempt that gave it; undefined for an answer that was made or rewritten here. */
  get attempt(): Attempt | undefined {
    return this.#isSealed && this.#attempt ? readOnlyAttempt(this.#attempt) : this.#attempt
  }

  /** Makes it read only from now on: its body is frozen, and each reader gets a copy of its bytes. */
  seal(): this {
    this.#isSealed = true
    deepFreeze(this.#body)
    return Object.freeze(this)
  }

  get raw(): Buffer | undefined {
    return this.#isSealed && this.#raw ? Buffer.from(this.#raw) : this.#raw
  }

  /** Throws a SyntaxError when the provider's bytes are not JSON. */
  get body(): Completion {
    if (!this.#body) {
      this.#text = this.#raw!.toString('utf8')
      this.#body = JSON.parse(this.#text) as Completion
      if (this.#isSealed) deepFreeze(this.#body)
    }
    return this.#body
  }

  /** The body as it came, where it came in the canonical form. Throws a SyntaxError when that is not JSON. */
  get json(): string | undefined {
    return this.#raw && this.body ? this.#text : undefined
  }
}

/** A streamed answer: batches of chunks, each batch what one read brought. To be read once. */
export class StreamReply {
  readonly kind = 'stream'
  /** The wire that the chunks' bytes are written in; empty when they have none. */
  readonly wire: string
  readonly chunks: AsyncIterable<readonly Chunk[]>
  readonly #attempt: Attempt | undefined

  /** `attempt` gave it, if one did. */
  constructor(wire: string, chunks: AsyncIterable<readonly Chunk[]>, attempt?: Attempt) {
    this.wire = wire
    this.chunks = chunks
    this.#attempt = attempt
  }

  /** As of a plain answer. */
  get attempt(): Attempt | undefined {
    return this.#attempt && Object.isFrozen(this) ? readOnlyAttempt(this.#attempt) : this.#attempt
  }

  /** The same answer, its chunks passed through something. */
  through(chunks: AsyncIterable<readonly Chunk[]>): StreamReply {
    return new StreamReply(this.wire, chunks, this.#attempt)
  }
}

export type Reply = WholeReply | StreamReply
