import { type ErrorCode, envelope, type GatewayError } from '#kernel'
import { bodyPath, type Places } from './places.ts'

/** The wire's codes; its clients ask again after any but `invalid_prompt`. */
const codes: Partial<Record<ErrorCode, string>> = {
  bad_request: 'invalid_prompt',
  rate_limited: 'rate_limit_exceeded',
}

/** The error of a response that failed. */
export const responseError = ({ code, message }: GatewayError) => ({
  code: codes[code] ?? 'server_error',
  message,
})

/** The envelope of an error, which names the field as the client knows it. */
export function errorOf(error: GatewayError, requestId: string, places: Places | undefined) {
  const body = envelope(error, requestId)
  const { param } = error
  if (param === undefined || places === undefined) return body
  const path = bodyPath(param, places)
  return { error: { ...body.error, param: path, message: error.message.replace(param, () => path) } }
}
