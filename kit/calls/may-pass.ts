import { isGatewayError, isUpstreamError } from '../errors.ts'

/** Whether a later call may succeed where this one failed: at a limit, or at a provider that was out of order. */
export const mayPass = (error: unknown): boolean =>
  isUpstreamError(error)
    ? error.retryable
    : isGatewayError(error) && (error.code === 'rate_limited' || error.code === 'circuit_open')
