import {
  type Arrangement,
  type Attempt,
  type Call,
  GatewayError,
  type Protocol,
  type Target,
  type UpstreamError,
} from '#kernel'

/** One try at a provider, as far as its end is told. */
interface Tried {
  readonly attempt: Attempt
  readonly call: Call
  readonly target: Target
  readonly on: Arrangement
}

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
  if (key && key.secret.length > shortest) reword(error, error.message.replaceAll(key.secret, `…${key.hint}`))
  return error
}

/** Puts another message into an error, also where its stack repeats it. */
function reword(error: UpstreamError, message: string): void {
  if (error.stack) error.stack = error.stack.replace(error.message, () => message)
  error.message = message
}

/** Closes the books of an attempt that failed. */
export async function fail(error: UpstreamError, { attempt, ...tried }: Tried): Promise<void> {
  attempt.latencyMs = performance.now() - attempt.startedAt
  attempt.status ??= error.providerStatus
  attempt.error = await cleanError(error, tried)
}

/**
 * The same error without the key, and with no more of its provider's words than guards of answers let pass: it may repeat the
 * request in them. Where a guard refuses them or cannot look, the error keeps its code and status, and says nothing else of
 * its provider's.
 */
export async function cleanError(
  error: UpstreamError,
  { call, target, on }: Omit<Tried, 'attempt'>,
): Promise<UpstreamError> {
  const { code, fault, type, param = '', native = '' } = error
  const { message } = hideKey(error, target)
  try {
    const [said, kind, field, name] = await on.attempts.search([message, type, param, native], call)
    reword(error, said!)
    return Object.assign(error, { type: kind, param: field || undefined, native: name || undefined })
  } catch {
    reword(error, `${error.provider} answered with an error, whose message is withheld.`)
    const own = fault === 'status' ? new GatewayError(code, '').type : type
    return Object.assign(error, { type: own, param: undefined, native: undefined })
  }
}
