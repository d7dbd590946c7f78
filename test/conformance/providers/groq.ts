import { groq as dialect } from '../../upstream/groq/index.ts'
import { likeOpenai } from './openai.ts'
import type { TestProvider } from './provider.ts'

export const groq: TestProvider = {
  ...likeOpenai,
  name: 'groq',
  dialect,
  operations: ['chat'],
  models: { chat: 'openai/gpt-oss-20b' },
  refusals: [],
  departures: { refusal: { as: 'absent' } },
}
