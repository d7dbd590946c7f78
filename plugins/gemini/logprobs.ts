import type { LogprobsResult, TokenChance } from './wire.ts'

/** Log probabilities as OpenAI writes them. */
export function logprobsOf({ chosenCandidates = [], topCandidates = [] }: LogprobsResult): object {
  return {
    content: chosenCandidates.map((chosen, i) => ({
      ...chance(chosen),
      top_logprobs: (topCandidates[i]?.candidates ?? []).map(chance),
    })),
    refusal: null,
  }
}

const chance = ({ token = '', logProbability = 0 }: TokenChance) => ({
  token,
  logprob: logProbability,
  bytes: [...Buffer.from(token)],
})
