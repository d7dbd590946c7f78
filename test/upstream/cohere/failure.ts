import type { ScriptedError } from '../script.ts'
import type { Answer } from '../wire.ts'

const byStatus: Readonly<Record<number, string>> = {
  401: 'invalid api token',
  404: 'model not found, make sure the correct model ID was used and that you have access to the model.',
  429: 'You are using a Trial key, which is limited to 20 API calls / minute. Please wait and try again later.',
  500: 'internal server error, this has been reported to our developers.',
}

/** An error answer: an id and a message. */
export function failure(status: number, { message }: ScriptedError = {}): Answer {
  const body = {
    id: '00000000-0000-0000-0000-000000000000',
    message: message ?? byStatus[status] ?? 'invalid request',
  }
  return { status, headers: headers('application/json'), stream: false, frames: [JSON.stringify(body)] }
}

/** The headers of every answer. */
export function headers(contentType: string): Record<string, string> {
  return {
    'content-type': contentType,
    'x-api-warning': '',
    'x-trial-endpoint-call-limit': '20',
    'x-trial-endpoint-call-remaining': '19',
    via: '1.1 google',
  }
}
