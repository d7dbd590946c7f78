import { azure as dialect } from '../../upstream/index.ts'
import { likeOpenai } from './openai.ts'
import type { TestProvider } from './provider.ts'

export const azure: TestProvider = {
  ...likeOpenai,
  name: 'azure',
  dialect,
  operations: ['chat', 'completion'],
  models: { chat: 'gpt-4o-mini', completion: 'davinci-002', reasoning: 'gpt-5-mini' },
}
