import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { fingerprint, serviceHeaders } from './headers.ts'
import { messageEvents } from './message-stream.ts'
import { inputTokens, said, shape, usageOf } from './turn.ts'

/** POST /v1/messages. */
export function respondToMessage(request: RecordedRequest, script: Script): Answer {
  const asked = shape.parse(request.body)
  const answer = said(asked, script)
  const usage = script.usage === undefined ? usageOf(asked, answer) : script.usage
  const message = {
    id: `msg_${fingerprint(request)}`,
    type: 'message',
    role: 'assistant',
    model: asked.model,
    content: answer.blocks,
    stop_reason: answer.stopReason,
    stop_sequence: null,
    usage,
  }
  if (asked.stream) {
    const frames = script.chunks ?? messageEvents(message, answer)
    return {
      status: 200,
      headers: serviceHeaders(request, 'text/event-stream; charset=utf-8'),
      stream: true,
      frames,
    }
  }
  return plain(request, script.body ?? message)
}

/** POST /v1/messages/count_tokens. */
export function respondToCount(request: RecordedRequest, script: Script): Answer {
  return plain(request, script.body ?? { input_tokens: inputTokens(shape.parse(request.body)) })
}

/** GET /v1/models. */
export function respondToModels(request: RecordedRequest, models: readonly string[]): Answer {
  const data = models.map((id) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: '2025-01-01T00:00:00Z',
  }))
  return plain(request, { data, has_more: false, first_id: models[0], last_id: models.at(-1) })
}

function plain(request: RecordedRequest, body: unknown): Answer {
  const frame = typeof body === 'string' ? body : JSON.stringify(body)
  return { status: 200, headers: serviceHeaders(request, 'application/json'), stream: false, frames: [frame] }
}
