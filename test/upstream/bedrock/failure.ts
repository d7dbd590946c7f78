import { hash } from 'node:crypto'
import type { RecordedRequest } from '../record.ts'
import type { ScriptedError } from '../script.ts'
import type { Answer } from '../wire.ts'

const byStatus: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ['ValidationException', 'The request is not valid.'],
  403: ['AccessDeniedException', "You don't have access to the model with the specified model ID."],
  404: ['ResourceNotFoundException', 'The specified model could not be found.'],
  408: ['ModelTimeoutException', 'The model timed out.'],
  424: ['ModelErrorException', 'The model failed.'],
  429: ['ThrottlingException', 'Too many requests, please wait before trying again.'],
  500: ['InternalServerException', 'An internal server error occurred.'],
  503: ['ServiceUnavailableException', 'The service is not available.'],
}

/** An error answer: its name stands in a header. */
export function failure(request: RecordedRequest, status: number, given: ScriptedError = {}): Answer {
  const [type, message] = byStatus[status] ?? byStatus[status < 500 ? 400 : 500]!
  return {
    status,
    headers: {
      ...serviceHeaders(request, 'application/json'),
      'x-amzn-errortype': `${given.type ?? type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    },
    stream: false,
    frames: [JSON.stringify({ message: given.message ?? message })],
  }
}

export const serviceHeaders = (request: RecordedRequest, contentType: string): Record<string, string> => ({
  'content-type': contentType,
  'x-amzn-requestid': hash('md5', `${request.ordinal} ${request.path} ${request.rawBody}`),
})
