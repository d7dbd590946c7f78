import { type ModelRequest, noUsage, type Unreported, type Usage } from '#kernel'
import { answerTexts } from '#kit'
import type { TokenCounter } from './counter.ts'

/**
 * What an answer used whose provider did not say: the tokens that the provider had counted before the answer was left; else the
 * count of the model's tokenizer, or an estimate by script. A chunk of a stream whose text is gone counts as one token. Marked
 * as an estimate wherever it shows.
 */
export async function usedBy(
  { model, counted, chunks, body }: Unreported,
  request: ModelRequest,
  counter: Pick<TokenCounter, 'knows' | 'count' | 'estimate' | 'estimator'>,
): Promise<Usage> {
  if (counted) return counted
  const asked = { ...request, model }
  // A counter that is closed meanwhile says nothing.
  const exact =
    counter.knows(model) && (await counter.count(asked, answerTexts(body())).catch(() => undefined))
  if (exact)
    return {
      ...noUsage,
      input: exact.input.tokens,
      output: exact.output || (chunks ?? 0),
      source: 'estimated',
    }
  const input = counter.estimate(asked).tokens
  const output = chunks ?? counter.estimator(model).countAll(answerTexts(body()))
  return { ...noUsage, input, output, source: 'estimated' }
}
