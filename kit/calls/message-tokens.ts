import type { TokenCounting } from '../../contract/token-counting.ts'
import type { Call } from '../../kernel/call/call.ts'
import type { Message } from '../canonical/forms.ts'
import { roughTokens } from './rough-tokens.ts'

/** An estimate may be too low by a tenth. */
const caution = 1.1

/**
 * The tokens that messages take in a call, by the tokenizer of its model, for modules that must not exceed a budget: an estimate is
 * raised by what it may be too low.
 */
export async function messageTokens(
  messages: readonly Message[],
  { request }: Pick<Call, 'request'>,
  counting: TokenCounting | undefined,
): Promise<number> {
  const alone = { model: request.model, messages }
  if (!counting) return Math.ceil(roughTokens(alone) * caution)
  const { input } = await counting.count(alone)
  return input.quality === 'estimate' ? Math.ceil(input.tokens * caution) : input.tokens
}
