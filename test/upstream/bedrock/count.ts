import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { conversationError } from './conversation.ts'
import { failure, serviceHeaders } from './failure.ts'
import { countBody } from './schema.ts'
import { shape, usageOf } from './turn.ts'

/** A foundation model of Anthropic's by its own name; of profiles the service knows nothing here. */
const counts = /^anthropic\.claude-/

/** What is wrong with a request to count. */
export function countRefusal(request: RecordedRequest, model: string): Answer | undefined {
  const { error, data } = countBody.safeParse(request.body)
  if (error) {
    const [issue] = error.issues
    return failure(request, 400, { message: `${issue?.path.join('.')}: ${issue?.message}` })
  }
  if (!counts.test(model)) {
    return failure(request, 400, { message: "The provided model doesn't support counting tokens." })
  }
  const { converse } = data.input
  const message = converse && conversationError(converse, model)
  return message === undefined ? undefined : failure(request, 400, { message })
}

/** POST /model/{id}/count-tokens. */
export function count(request: RecordedRequest, script: Script): Answer {
  const { converse } = countBody.parse(request.body).input
  const { inputTokens } = usageOf(shape.parse(converse), { blocks: [], deltas: [], stopReason: '' })
  const body = script.body ?? { inputTokens }
  return {
    status: 200,
    headers: serviceHeaders(request, 'application/json'),
    stream: false,
    frames: [typeof body === 'string' ? body : JSON.stringify(body)],
  }
}
