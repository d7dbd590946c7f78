import { mistral as dialect } from '../../upstream/mistral/index.ts'
import { likeOpenai } from './openai.ts'
import type { TestProvider } from './provider.ts'

export const mistral: TestProvider = {
  ...likeOpenai,
  name: 'mistral',
  dialect,
  operations: ['chat'],
  models: { chat: 'mistral-small-latest' },
  refusals: [],
  usage: ({ input, output }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
  }),
  tellsReasoning: false,
  departures: { 'cached usage': { as: 'absent' }, refusal: { as: 'absent' } },
}
