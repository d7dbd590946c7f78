import type { Call } from './call.ts'
import { isUpstreamError, type UpstreamError } from './errors.ts'
import type { Protocol, Target } from './provider.ts'
import type { Chunk } from './stream/chunk.ts'
import type { Attempt } from './trail.ts'

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

/** Has the attempt tell usage and cost from what is reported, once that is read. */
export function account(attempt: Attempt, protocol: Protocol, target: Target, reported: () => unknown): void {
  const read =
    <T>(of: (value: unknown) => T) =>
    (): T | undefined => {
      const value = reported()
      return value ? of(value) : undefined
    }
  attempt.usage = read((value) => protocol.usage(value, target))
  if (protocol.costUsd) attempt.costUsd = read((value) => protocol.costUsd!(value, target))
}

/** Closes the books of an attempt that failed. */
export function fail(attempt: Attempt, error: UpstreamError): void {
  attempt.latencyMs = performance.now() - attempt.startedAt
  attempt.status ??= error.providerStatus
  attempt.error = error
}

/**
 * Watches a stream for what it reports, without looking into chunks that nobody parsed. `failed` is called after the
 * stream broke, whether its first content had come or not.
 */
export async function* noted(
  chunks: AsyncIterable<readonly Chunk[]>,
  {
    attempt,
    protocol,
    target,
    failed,
  }: { attempt: Attempt; protocol: Protocol; target: Target; failed: () => void },
): AsyncGenerator<readonly Chunk[]> {
  let reported: unknown
  account(attempt, protocol, target, () => reported)
  try {
    for await (const batch of chunks) {
      for (const { seen } of batch) if (seen?.usage) reported = seen.usage
      yield batch
    }
    attempt.status ??= 200
  } catch (error) {
    if (isUpstreamError(error)) {
      fail(attempt, error)
      failed()
    }
    throw error
  } finally {
    attempt.latencyMs = performance.now() - attempt.startedAt
  }
}
