import type { RecordedRequest } from '../record.ts'
import type { ScriptedError } from '../script.ts'
import type { Answer } from '../wire.ts'

const byStatus: Readonly<Record<number, readonly [status: string, message: string]>> = {
  400: ['INVALID_ARGUMENT', 'Request contains an invalid argument.'],
  401: ['UNAUTHENTICATED', 'Request had invalid authentication credentials.'],
  403: ['PERMISSION_DENIED', 'Permission denied.'],
  404: ['NOT_FOUND', 'The model is not found for API version v1beta.'],
  429: ['RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'],
  500: ['INTERNAL', 'An internal error has occurred.'],
  503: ['UNAVAILABLE', 'The model is overloaded. Please try again later.'],
  504: ['DEADLINE_EXCEEDED', 'The request timed out.'],
}

/** An error as Google's APIs write it. `given.type` is its status, `given.code` the reason in its details. */
export function failure(
  _: RecordedRequest,
  status: number,
  given: ScriptedError = {},
  more: readonly object[] = [],
): Answer {
  const [name, message] = byStatus[status] ?? byStatus[500]!
  const reason = given.code && {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: given.code,
    domain: 'googleapis.com',
  }
  const details = [...(reason ? [reason] : []), ...more]
  const error = {
    code: status,
    message: given.message ?? message,
    status: given.type ?? name,
    ...(details.length > 0 && { details }),
  }
  return {
    status,
    headers: headers('application/json; charset=UTF-8'),
    stream: false,
    frames: [JSON.stringify({ error })],
  }
}

/** The headers of every answer. */
export function headers(contentType: string): Record<string, string> {
  return {
    'content-type': contentType,
    vary: 'Origin, X-Origin, Referer',
    server: 'scaffolding on HTTPServer2',
    'x-content-type-options': 'nosniff',
    'server-timing': 'gfet4t7; dur=321',
  }
}
