import type { AutopilotEnd, Call } from '#kernel'
import { isOfRequest } from '#kit'
import type { Place } from '../routing/route.ts'

/** Statuses that speak of the key and not of the model. */
const ofKey: ReadonlySet<number | undefined> = new Set([401, 402, 403, 429])

/**
 * Whether a model failed a call, also where another answered in its place, or took longer than it may. Undefined for calls that say
 * nothing of it: those that were refused before, left by their client, wrong themselves, or made with a key that the provider refuses.
 */
export function failureOf(
  { trace }: Call,
  place: Place,
  { outcome: { ending }, fellBack }: AutopilotEnd,
  maxMs: number | null,
): boolean | undefined {
  const attempt = trace.attempts.find(
    ({ provider, model }) => provider === place.provider && model === place.model,
  )
  if (ending === 'client_abort' || ending === 'refused') return undefined
  // Where nothing is sent to it any more, its circuit is open.
  if (!attempt) return fellBack || undefined
  const { error, status, ownKey, latencyMs = 0 } = attempt
  if (isOfRequest(error?.providerStatus) || (ownKey && ofKey.has(status))) return undefined
  return error !== undefined || (maxMs !== null && latencyMs > maxMs)
}
