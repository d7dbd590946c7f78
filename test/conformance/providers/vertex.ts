import { vertexWith } from '../../upstream/vertex/index.ts'
import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import type { TestProvider } from './provider.ts'

const dialect = vertexWith(new Set(['ya29.test']))
const entry = { api_key: 'ya29.test', options: { project: 'p' } }

export const vertex: TestProvider = { ...gemini, name: 'vertex', dialect, entry }

export const vertexClaude: TestProvider = {
  ...anthropic,
  name: 'vertex-claude',
  signer: 'claude',
  dialect,
  entry,
  models: { chat: 'claude-sonnet-4-5@20250929' },
}
