import { countTokens } from './tokens.ts'
import type { ChatRequest, Turn } from './turn.ts'

/** Usage of a chat answer: four tokens a message beside its content, and one for each delta of each choice. */
export function chatUsage(request: ChatRequest, turns: readonly Turn[]) {
  const prompt = request.messages.reduce((sum, { content }) => sum + 4 + countTokens(content), 0)
  const reasoning = turns.reduce((sum, turn) => sum + turn.reasoning.length, 0)
  const visible = turns.reduce((sum, turn) => sum + visibleTokens(turn), 0)
  return {
    prompt_tokens: prompt,
    completion_tokens: visible + reasoning,
    total_tokens: prompt + visible + reasoning,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

function visibleTokens({ content, refusal, toolCalls }: Turn): number {
  const called = toolCalls.reduce(
    (sum, call) => sum + countTokens(call.name) + countTokens(call.arguments),
    0,
  )
  return content.length + refusal.length + called
}
