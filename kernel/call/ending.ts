import { ClientGone, type GatewayError, isUpstreamError } from '../../kit/errors.ts'
import { toGatewayError } from '../to-gateway-error.ts'
import type { Ending, Served } from './outcome.ts'

/** The error that a call ended with; a client that left is none. */
export const errorOf = ({ error }: Served): GatewayError | undefined =>
  error === undefined || error instanceof ClientGone ? undefined : toGatewayError(error)

/** How a call ended, and so the party to blame. */
export function endingOf(served: Served, error = errorOf(served)): Ending {
  const { error: thrown, finishReason } = served
  if (thrown instanceof ClientGone) return 'client_abort'
  if (!error)
    return finishReason === 'length' ? 'length' : finishReason === 'content_filter' ? 'blocked' : 'ok'
  if (error.type === 'content_blocked') return 'blocked'
  if (error.type === 'timeout') return 'timeout'
  if (error.code === 'internal_error' || error.type === 'module_tripped') return 'gateway_error'
  return isUpstreamError(error) ? 'upstream_error' : 'refused'
}
