import { estimator } from '../tokens/tokenizer.ts'

/** A rough count: four characters a token, for where no tokenizer is known. Mark what is computed with it. */
export const estimateTokens = (text: string): number => estimator.count(text)
