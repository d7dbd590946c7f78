import type { Call, Candidate, TokenCounting } from '#kernel'

/** Tokens of a prompt. */
export interface Counted {
  readonly tokens: number
  readonly isEstimate: boolean
}

/** How far an estimate by the model's characters may be off. */
const tolerance = 1.25

/**
 * The tokens of a call's prompt with the tokenizer of a target: estimated while the estimate is far from the target's window, and
 * counted near it.
 */
export async function countFor(
  counting: TokenCounting | undefined,
  { request }: Call,
  { model, window = Number.POSITIVE_INFINITY }: Candidate,
  rough: number,
): Promise<Counted> {
  const isFar = rough * 2 <= window
  if (isFar || !counting) return { tokens: rough, isEstimate: true }
  const asked = { ...request, model }
  const { tokens } = counting.estimate(asked)
  if (tokens * tolerance <= window) return { tokens, isEstimate: true }
  const { input } = await counting.count(asked)
  return { tokens: input.tokens, isEstimate: input.quality === 'estimate' }
}

/** Whether a prompt fits. What could only be estimated, and is not far over, is for the provider to judge. */
export const fits = ({ tokens, isEstimate }: Counted, window = Number.POSITIVE_INFINITY): boolean =>
  tokens <= (isEstimate ? window * tolerance : window)
