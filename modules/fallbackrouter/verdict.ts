import { type GatewayError, isUpstreamError, type UpstreamError } from '#kernel'
import type { Verdict } from './breaker.ts'

/**
 * The evidence of an error about the provider. Its own errors and its silence count; a limit does not, for a provider that
 * limits is there, and a refused key does not, for a caller's own bad key must not take a provider from the others.
 */
export function verdictOf(error: UpstreamError | undefined): Verdict {
  if (!error) return 'answered'
  const { fault, providerStatus = 0 } = error
  return fault !== 'status' || providerStatus >= 500 || providerStatus === 408 ? 'failed' : 'neither'
}

/** Whether another target may do better. A caller's own mistakes (400, 404, 422 …) are the same everywhere. */
export const isWorthMoving = (error: GatewayError): boolean =>
  isUpstreamError(error) && (error.status >= 500 || error.status === 429)

/** Whether modules keep the call from this target. */
export const isBarred = ({ type }: GatewayError): boolean => type === 'no_target'

/** For people: why a target did not answer. */
export function reasonOf(error: GatewayError): string {
  if (isBarred(error)) return 'not allowed for this call'
  if (!isUpstreamError(error) || error.code === 'circuit_open') return error.code.replaceAll('_', ' ')
  return error.fault === 'status' ? `status ${error.providerStatus ?? error.status}` : error.fault
}
