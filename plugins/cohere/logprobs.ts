import type { Logprobs } from './wire.ts'

/** Log probabilities as OpenAI writes them; Cohere has them for pieces of one or more tokens. */
export const logprobsOf = (pieces: readonly Logprobs[]): object => ({
  content: pieces.map(({ text = '', logprobs = [] }) => ({
    token: text,
    logprob: logprobs.reduce((sum, one) => sum + one, 0),
    bytes: [...Buffer.from(text)],
    top_logprobs: [],
  })),
  refusal: null,
})
