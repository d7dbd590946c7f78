import type { Call } from '../../kernel/call/call.ts'
import { tokenLimit } from '../calls/token-limit.ts'
import { answerCount } from './answer-count.ts'

/** The assumed tokens of an answer whose length is left open; the real number is settled when the answer is over. */
const typical = 256

/** Tokens that few answers exceed whose length is left open. */
const long = 4096

/** Tokens of all answers that a call asks for. */
export interface AnswerTokens {
  /** Of answers as long as they may be, or of typical ones where their length is left open. */
  readonly expected: number
  /** Of long answers where their length is left open: to set apart while nothing is known of a model's answers. */
  readonly cautious: number
  /** Whether they can be no more than this. */
  readonly isKnown: boolean
}

/** Tokens of all answers that a call asks for, of a model that gives so many of them for one answer at the most. */
export function answerTokens(
  { operation, request }: Call,
  mostOfModel = Number.POSITIVE_INFINITY,
): AnswerTokens {
  if (operation === 'embedding') return { expected: 0, cautious: 0, isKnown: true }
  const count = answerCount(request)
  const limit = tokenLimit(request)
  const all = (tokens: number): number => Math.min(tokens, mostOfModel) * count
  return {
    expected: all(limit ?? typical),
    cautious: all(limit ?? long),
    isKnown: limit !== undefined,
  }
}
