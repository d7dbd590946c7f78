import type { Estimator } from '#kernel'
import { estimatorOf as estimatorWith } from '#kit'
import { tokenRates } from './rates.ts'
import { encodingOf, type Tokenizer } from './tokenizer.ts'

/** Estimates by what characters take on average of the model's own vocabulary, where it is known. */
export function estimatorOf(model: string): Estimator & Tokenizer {
  const encoding = encodingOf(model)
  const estimator = estimatorWith(
    encoding && tokenRates[encoding === 'o200k_harmony' ? 'o200k_base' : encoding],
  )
  return {
    name: 'estimate',
    published: false,
    count: (text) => estimator.countAll([text]),
    ...estimator,
  }
}
