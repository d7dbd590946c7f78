import type { ErrorCode, GatewayError } from '#kernel'

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
