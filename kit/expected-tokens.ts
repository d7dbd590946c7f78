import type { Call } from '../kernel/call/call.ts'
import { requestTexts } from '../kernel/call/texts.ts'
import { answerCount } from './answer-count.ts'
import { estimateTokens } from './estimate.ts'
import { tokenLimit } from './token-limit.ts'

/** The assumed tokens of an answer that has no limit of its own; the real number is settled when the answer is over. */
const typicalAnswer = 256

/** Tokens that a call may use: of its prompts by a rough count, of all its answers as many as it asks for. */
export function expectedTokens({ operation, request }: Call): {
  readonly input: number
  readonly output: number
} {
  const texts = estimateTokens(requestTexts(request).map(({ text }) => text))
  const given = [request.prompt, request.input].flat(2).filter((part) => typeof part === 'number').length
  const output = operation === 'embedding' ? 0 : (tokenLimit(request) ?? typicalAnswer) * answerCount(request)
  return { input: texts + given, output }
}
