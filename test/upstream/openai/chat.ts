import type { RecordedRequest } from '../record.ts'
import type { Script } from '../script.ts'
import type { Answer } from '../wire.ts'
import { plain, streamed } from './answer.ts'
import { chatChunks } from './chat-stream.ts'
import { fingerprint } from './headers.ts'
import { logprobsOf } from './logprobs.ts'
import { CHAT, type ChatRequest, type Turn, turnOf } from './turn.ts'
import { chatUsage } from './usage.ts'

/** What all chunks of an answer, and the whole one, have in common. */
export interface ChatFrame {
  readonly id: string
  readonly created: number
  readonly model: string
}

/** POST /v1/chat/completions. */
export function respondToChat(request: RecordedRequest, script: Script): Answer {
  const chat = CHAT.parse(request.body)
  const turns = Array.from({ length: chat.n ?? 1 }, (_, index) => turnOf(chat, script, index))
  const usage = script.usage === undefined ? chatUsage(chat, turns) : script.usage
  const id = `chatcmpl-${fingerprint(request)}`
  const frame = { id, created: Math.floor(request.receivedAt / 1000), model: chat.model }
  if (chat.stream) return streamed(request, script, () => chatChunks(chat, turns, frame, usage))
  return plain(request, script, () => ({
    id: frame.id,
    object: 'chat.completion',
    created: frame.created,
    model: frame.model,
    choices: turns.map((turn, index) => choice(chat, turn, index)),
    ...(usage && { usage }),
    service_tier: 'default',
    system_fingerprint: 'fp_upstream',
  }))
}

function choice(chat: ChatRequest, turn: Turn, index: number) {
  const { content, reasoning, refusal, toolCalls } = turn
  return {
    index,
    message: {
      role: 'assistant',
      content:
        content.length > 0 || (toolCalls.length === 0 && refusal.length === 0) ? content.join('') : null,
      ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(toolCall) }),
      refusal: refusal.length > 0 ? refusal.join('') : null,
      annotations: [],
    },
    logprobs: chat.logprobs ? { content: logprobsOf(content), refusal: null } : null,
    finish_reason: turn.finishReason,
  }
}

function toolCall({ id, name, arguments: json }: Turn['toolCalls'][number]) {
  return { id, type: 'function', function: { name, arguments: json } }
}
