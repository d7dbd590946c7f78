import { estimatorOf } from '../tokens/estimate.ts'

/**
 * A rough count of texts, by their script and the vocabulary of the model, at once and whatever their length. Mark what is
 * computed with it.
 */
export const estimateTokens = (texts: string | readonly string[], model = ''): number =>
  estimatorOf(model).countAll(typeof texts === 'string' ? [texts] : texts)
