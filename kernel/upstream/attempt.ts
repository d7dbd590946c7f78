import type { Call } from '../call/call.ts'
import type { Attempt } from '../call/trail.ts'
import { isUpstreamError, type UpstreamError } from '../errors.ts'
import type { Chunk } from '../stream/chunk.ts'
import type { Protocol, Target } from './provider.ts'

/** An attempt that is about to be made; the caller puts it on the trail once nobody objects. */
export function newAttempt(call: Call, { provider, model, key }: Target): Attempt {
  return {
    n: call.trail.attempts.length + 1,
    provider: provider.name,
    model,
    keyHint: key?.hint,
    startedAt: performance.now(),
    status: undefined,
    latencyMs: undefined,
    error: undefined,
    reasonNext: undefined,
    usage: undefined,
  }
}

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
export async function* noted(
  chunks: AsyncIterable<readonly Chunk[]>,
  { attempt, protocol, target, failed }: Watched,
): AsyncGenerator<readonly Chunk[]> {
  let reported: unknown
  let counted: unknown
  account(
    attempt,
    protocol,
    target,
    () => reported,
    () => counted,
  )
  try {
    for await (const batch of chunks) {
      for (const chunk of batch) {
        if (chunk.seen?.usage) reported = chunk.seen.usage
        if (chunk.counted) counted = chunk.counted
      }
      yield batch
    }
    attempt.status ??= 200
  } catch (error) {
    if (isUpstreamError(error)) {
      fail(attempt, error, target)
      failed()
    }
    throw error
  } finally {
    attempt.latencyMs = performance.now() - attempt.startedAt
  }
}
