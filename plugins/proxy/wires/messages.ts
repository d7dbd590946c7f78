import type { Wire } from '#kernel'
import { messageOf } from './messages/answer.ts'
import { MessagesEncoder } from './messages/encoder.ts'
import { errorOf } from './messages/errors.ts'
import { requestOf } from './messages/request.ts'
import { messagesBody } from './messages/schema.ts'
import { errorBody, message, messageEvents } from './messages/shapes.ts'

/** Anthropic's wire. A provider that speaks it too gets and gives what the client and it would have said directly. */
export const messagesWire: Wire = {
  id: 'messages',
  path: '/v1/messages',
  operation: 'chat',
  summary: 'A message in the Anthropic format, plain or streamed',
  idHeader: 'request-id',
  body: messagesBody,
  answer: message,
  events: messageEvents,
  errors: errorBody,
  decode: requestOf,
  encode: messageOf,
  encoder: (wire, request) => new MessagesEncoder(wire === 'messages', request),
  error: errorOf,
}
