import type { RecordedRequest } from '../record.ts'
import type { ScriptedError } from '../script.ts'
import type { Answer } from '../wire.ts'
import { serviceHeaders } from './headers.ts'

const BY_STATUS: Readonly<Record<number, Required<ScriptedError>>> = {
  401: error('Incorrect API key provided.', 'invalid_request_error', 'invalid_api_key'),
  403: error('Country, region, or territory not supported', 'request_forbidden', 'unsupported_country'),
  404: error(
    'The model does not exist or you do not have access to it.',
    'invalid_request_error',
    'model_not_found',
  ),
  429: error('Rate limit reached for requests. Please try again in 1s.', 'requests', 'rate_limit_exceeded'),
  500: error(
    'The server had an error while processing your request. Sorry about that!',
    'server_error',
    null,
  ),
  503: error('The engine is currently overloaded, please try again later', 'server_error', null),
}

/** An error answer; what `given` leaves out is what the real service says for such a status. */
export function failure(request: RecordedRequest, status: number, given: ScriptedError = {}): Answer {
  const fallback = status < 500 ? error('Bad request.', 'invalid_request_error', null) : BY_STATUS[500]
  const body = { error: { ...(BY_STATUS[status] ?? fallback), ...given } }
  return {
    status,
    headers: serviceHeaders(request, 'application/json'),
    stream: false,
    frames: [JSON.stringify(body, null, 2)],
  }
}

function error(message: string, type: string, code: string | null): Required<ScriptedError> {
  return { message, type, param: null, code }
}
