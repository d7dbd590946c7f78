import type { RecordedRequest } from '../record.ts'
import type { ScriptedError } from '../script.ts'
import type { Answer } from '../wire.ts'
import { requestId, serviceHeaders } from './headers.ts'

const byStatus: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['invalid_request_error', 'Bad request.'],
  401: ['authentication_error', 'invalid x-api-key'],
  403: ['permission_error', 'Your API key does not have permission to use the specified resource.'],
  404: ['not_found_error', 'Not found'],
  413: ['request_too_large', 'Request exceeds the maximum size'],
  429: ['rate_limit_error', 'This request would exceed your rate limit.'],
  500: ['api_error', 'Internal server error'],
  504: ['timeout_error', 'Request timed out'],
  529: ['overloaded_error', 'Overloaded'],
}

/** An error answer in the service's envelope. */
export function failure(request: RecordedRequest, status: number, given: ScriptedError = {}): Answer {
  const [type, message] = byStatus[status] ?? byStatus[status < 500 ? 400 : 500]!
  const error = { type: given.type ?? type, message: given.message ?? message }
  return {
    status,
    headers: serviceHeaders(request, 'application/json'),
    stream: false,
    frames: [JSON.stringify({ type: 'error', error, request_id: requestId(request) })],
  }
}
