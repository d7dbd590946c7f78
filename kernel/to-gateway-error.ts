import {
  badRequest,
  type GatewayError,
  internalError,
  isGatewayError,
  notFound,
  unavailable,
} from '../kit/errors.ts'
import { StoreError } from '../storage/index.ts'

/** Seconds after which a change that the store refused may be tried again. */
const storeRetryS = 5

/** The system's error codes for files that cannot be written for now. */
const diskFull: readonly string[] = ['ENOSPC', 'EDQUOT', 'EROFS']

/**
 * The error that a caller sees for any thrown value: the value itself when it has a code, else an internal error without
 * details.
 */
export function toGatewayError(error: unknown): GatewayError {
  if (isGatewayError(error)) return error
  if (error instanceof RangeError && error.message.startsWith('Maximum call stack')) {
    return badRequest('The body is nested too deeply.', { cause: error })
  }
  if (error instanceof StoreError && error.code === 'BODY_GONE')
    return notFound(error.message, { cause: error })
  if (error instanceof StoreError && error.code === 'STORE_FAILED') {
    return internalError(error.message, { ...unavailable, retryAfterS: storeRetryS, cause: error })
  }
  if (error instanceof Error && 'code' in error && diskFull.includes(String(error.code))) {
    const message = `The gateway's disk refuses writes (${error.code}). Free some space and try again.`
    return internalError(message, { ...unavailable, retryAfterS: storeRetryS, cause: error })
  }
  return internalError('Something failed inside the gateway; its log has the reason under the request id.', {
    cause: error,
  })
}
