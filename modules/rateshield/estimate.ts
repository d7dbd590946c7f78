import type { Call } from '#kernel'
import { estimateTokens, requestTexts, tokenLimit } from '#kit'

/** The assumed tokens of an answer that has no limit of its own; the real number is settled when the answer is over. */
const typicalAnswer = 256

/** Tokens that a call may use, before anybody has counted them. */
export function estimate({ operation, request }: Call): number {
  const texts = estimateTokens(requestTexts(request).map(({ text }) => text))
  const given = [request.prompt, request.input].flat(2).filter((part) => typeof part === 'number').length
  if (operation === 'embedding') return texts + given
  const answer = tokenLimit(request) ?? typicalAnswer
  return texts + given + answer * (request.n ?? 1)
}
