import {
  type Attempt,
  type Chunk,
  isUpstreamError,
  type Protocol,
  type Target,
  type UpstreamError,
} from '#kernel'

/** Has the attempt tell usage and cost from what is reported or counted so far, once that is read. */
export function account(
  attempt: Attempt,
  protocol: Protocol,
  target: Target,
  reported: () => unknown,
  counted?: () => unknown,
): void {
  const read =
    <T>(of: (value: unknown) => T) =>
    (): T | undefined => {
      const value = reported()
      return value ? of(value) : undefined
    }
  attempt.usage = read((value) => protocol.usage(value, target))
  if (counted) {
    attempt.counted = () => {
      const value = counted()
      return value ? protocol.usage(value, target) : undefined
    }
  }
  if (protocol.costUsd) attempt.costUsd = read((value) => protocol.costUsd!(value, target))
}

/** What is shorter than this is found in any text, and is no secret. */
const shortest = 6

/** A provider that quotes the key in its error does not give it away. */
export function hideKey(error: UpstreamError, { key }: Target): UpstreamError {
  if (key && key.secret.length > shortest)
    error.message = error.message.replaceAll(key.secret, `…${key.hint}`)
  return error
}

/** Closes the books of an attempt that failed. */
export function fail(attempt: Attempt, error: UpstreamError, target: Target): void {
  hideKey(error, target)
  attempt.latencyMs = performance.now() - attempt.startedAt
  attempt.status ??= error.providerStatus
  attempt.error = error
}

interface Watched {
  readonly attempt: Attempt
  readonly protocol: Protocol
  readonly target: Target
  /** Called after the stream broke, whether its first content had come or not. */
  failed(): void
}

/** Watches a stream for what it reports, without looking into chunks that nobody parsed. */
export function noted(chunks: Batches, watched: Watched): Batches {
  return { [Symbol.asyncIterator]: () => new Noting(chunks[Symbol.asyncIterator](), watched) }
}

type Batches = AsyncIterable<readonly Chunk[]>
type Step = IteratorResult<readonly Chunk[], unknown>

class Noting implements AsyncIterator<readonly Chunk[], unknown> {
  readonly #source: AsyncIterator<readonly Chunk[]>
  readonly #watched: Watched
  #reported: unknown
  #counted: unknown
  #isOver = false

  constructor(source: AsyncIterator<readonly Chunk[]>, watched: Watched) {
    this.#source = source
    this.#watched = watched
    const { attempt, protocol, target } = watched
    account(
      attempt,
      protocol,
      target,
      () => this.#reported,
      () => this.#counted,
    )
  }

  next(): Promise<Step> {
    return this.#source.next().then(this.#took, this.#broke)
  }

  async return(): Promise<Step> {
    this.#end()
    await this.#source.return?.()
    return { done: true, value: undefined }
  }

  readonly #took = (step: Step): Step => {
    if (step.done) {
      this.#watched.attempt.status ??= 200
      this.#end()
      return step
    }
    for (const chunk of step.value) {
      if (chunk.seen?.usage) this.#reported = chunk.seen.usage
      if (chunk.counted) this.#counted = chunk.counted
    }
    return step
  }

  readonly #broke = (error: unknown): never => {
    const { attempt, target, failed } = this.#watched
    if (isUpstreamError(error)) {
      fail(attempt, error, target)
      failed()
    }
    this.#end()
    throw error
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    const { attempt } = this.#watched
    attempt.latencyMs = performance.now() - attempt.startedAt
  }
}
