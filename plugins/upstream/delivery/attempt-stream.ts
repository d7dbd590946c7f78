import {
  type Attempt,
  type Awaitable,
  type Chunk,
  isUpstreamError,
  type Protocol,
  type Target,
  type UpstreamError,
} from '#kernel'
import { hasContent } from '#kit'
import { account } from './attempt.ts'

/** Where the chunks of one attempt come from. */
export interface ChunkSource {
  /** What came since the last read, undefined at the end; throws or rejects with what broke it off, once. */
  read(): Awaitable<readonly Chunk[] | undefined>
  /** No more is wanted. */
  leave(): unknown
}

interface Watched {
  readonly attempt: Attempt
  readonly protocol: Protocol
  readonly target: Target
  /** Called when the stream broke, whether its first content had come or not; it goes on with the error then. */
  failed(error: UpstreamError): Promise<void>
  /** Called at its end, or when it is left. */
  ended(): void
}

type Step = IteratorResult<readonly Chunk[], undefined>

const over: Step = { done: true, value: undefined }

/**
 * The stream of one attempt: reads it to its first content, takes down what it reports, and gives its chunks batch by
 * batch. One iterator for all of it, since every batch of every stream passes here. To be read once.
 */
export class AttemptStream implements AsyncIterator<readonly Chunk[], undefined> {
  readonly #source: ChunkSource
  readonly #watched: Watched
  /** What came up to the first content. */
  #held: Chunk[] = []
  #reported: unknown
  #counted: unknown
  /** How many events came. */
  #events = 0
  #isOver = false

  constructor(source: ChunkSource, watched: Watched) {
    this.#source = source
    this.#watched = watched
    const { attempt, protocol, target } = watched
    account(attempt, protocol, target, {
      reported: () => this.#reported,
      counted: () => this.#counted,
      came: () => this.#events,
    })
  }

  /**
   * Reads up to the first content: until then a failure can still be made good elsewhere. `unreadable` makes one of a
   * chunk that could not be read.
   */
  async begin(unreadable: (cause: unknown) => Error): Promise<void> {
    for (let step = await this.#read(); !step.done; step = await this.#read()) {
      this.#held.push(...step.value)
      try {
        if (step.value.some((chunk) => hasContent(chunk.data))) return
      } catch (cause) {
        await this.return()
        throw unreadable(cause)
      }
    }
  }

  next(): Promise<Step> {
    if (this.#held.length === 0) return this.#read()
    const value = this.#held
    this.#held = []
    return Promise.resolve({ done: false, value })
  }

  async return(): Promise<Step> {
    this.#end()
    await this.#source.leave()
    return over
  }

  async #read(): Promise<Step> {
    let chunks: readonly Chunk[] | undefined
    try {
      const read = this.#source.read()
      chunks = read instanceof Promise ? await read : read
    } catch (error) {
      if (isUpstreamError(error)) await this.#watched.failed(error)
      this.#end()
      throw error
    }
    if (!chunks) {
      this.#watched.attempt.status ??= 200
      this.#end()
      return over
    }
    for (const chunk of chunks) {
      this.#events += chunk.events
      // Unparsed chunks are not parsed for this.
      if (chunk.seen?.usage) this.#reported = chunk.seen.usage
      if (chunk.counted) this.#counted = chunk.counted
    }
    return { done: false, value: chunks }
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { attempt, ended } = this.#watched
    attempt.latencyMs = performance.now() - attempt.startedAt
    ended()
  }
}

/** A source of chunks from an iterable. */
export function sourceOf(chunks: AsyncIterable<readonly Chunk[]>): ChunkSource {
  const iterator = chunks[Symbol.asyncIterator]()
  return {
    read: async () => {
      const { done, value } = await iterator.next()
      return done ? undefined : value
    },
    leave: () => iterator.return?.(),
  }
}
