import { anthropic } from './anthropic.ts'
import { azure } from './azure.ts'
import { bedrock } from './bedrock.ts'
import { cohere } from './cohere.ts'
import { gemini } from './gemini.ts'
import { groq } from './groq.ts'
import { mistral } from './mistral.ts'
import { openai } from './openai.ts'
import type { TestProvider } from './provider.ts'
import { vertex, vertexClaude } from './vertex.ts'

/** The providers of the table, in its order. A new one is a file here and a line in this list. */
export const providers: readonly TestProvider[] = [
  openai,
  azure,
  anthropic,
  gemini,
  cohere,
  mistral,
  groq,
  bedrock,
  vertex,
  vertexClaude,
]
