import type { Attempt, Call, Protocol, Target, UpstreamError } from '#kernel'

/** What is known of an answer, when it is asked. */
interface Answered {
  readonly reported: () => unknown
  /** What the provider had counted so far. */
  readonly counted?: () => unknown
  readonly came: NonNullable<Attempt['came']>
}

/** Begins an attempt that had to wait, in which time others may have begun. */
export function begin(attempt: Attempt, call: Call): void {
  attempt.n = call.trace.attempts.length + 1
  attempt.startedAt = performance.now()
}

/** Has the attempt tell usage and cost from what is reported or counted so far, once that is read. */
export function account(
  attempt: Attempt,
  protocol: Protocol,
  target: Target,
  { reported, counted, came }: Answered,
): void {
  const read =
    <T>(of: (value: unknown) => T) =>
    (): T | undefined => {
      const value = reported()
      return value ? of(value) : undefined
    }
  attempt.came = came
  attempt.usage = read((value) => protocol.usage(value, target))
  if (counted) {
    attempt.counted = () => {
      const value = counted()
      return value ? protocol.usage(value, target) : undefined
    }
  }
  if (protocol.costUsd) attempt.costUsd = read((value) => protocol.costUsd!(value, target))
}

/** A shorter text occurs in any text, and is no secret. */
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
