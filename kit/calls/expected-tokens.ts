import type { Call } from '../../kernel/call/call.ts'
import { answerTokens } from '../answers/answer-tokens.ts'
import { requestTexts } from '../canonical/texts.ts'
import { estimateTokens } from './estimate.ts'

/** Tokens that a call may use: of its prompts by a rough count, of all its answers as many as it asks for. */
export function expectedTokens(call: Call): {
  readonly input: number
  readonly output: number
} {
  const { request } = call
  const texts = estimateTokens(requestTexts(request).map(({ text }) => text))
  const given = [request.prompt, request.input].flat(2).filter((part) => typeof part === 'number').length
  return { input: texts + given, output: answerTokens(call).expected }
}
