import type { GatewayError } from '#kernel'

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** The wire's own envelope; its clients tell errors apart by status and type. */
export function errorOf({ status, message }: GatewayError, requestId: string) {
  const type = types[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { type: 'error', error: { type, message }, request_id: requestId } as const
}
