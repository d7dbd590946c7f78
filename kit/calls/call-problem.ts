import { isGatewayError, isUpstreamError } from '../errors.ts'

/**
 * Why a call that a plugin made has failed, as plugins keep it. A provider's own words may be those of the prompt, so its status has
 * to do.
 */
export function callProblem(error: unknown): { code: string; message: string } {
  if (isUpstreamError(error))
    return { code: error.code, message: `The provider answered with ${error.status}.` }
  if (isGatewayError(error)) return { code: error.code, message: error.message.slice(0, 500) }
  return { code: 'internal_error', message: 'The call could not be made.' }
}
