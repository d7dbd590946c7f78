/** A log probability for each token: the longer the token, the less likely. */
export function logprobsOf(tokens: readonly string[]) {
  return tokens.map((token) => ({
    token,
    logprob: -token.length / 10,
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }))
}
