import { z } from 'zod'

const model = z.string().min(1).max(256)
const part = z.object({ type: z.string() })
const toolCall = z.object({
  id: z.string(),
  function: z.object({ name: z.string(), arguments: z.string() }).optional(),
})

const message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: z.union([z.string(), z.array(part), z.null()]).optional(),
  tool_calls: z.array(toolCall).nullish(),
  tool_call_id: z.string().optional(),
})

const tool = z.object({ type: z.string(), function: z.object({ name: z.string() }).optional() })

const stream = {
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
}

/** What the gateway relies on in the body of a chat, in OpenAI's form. Fields that it does not name go on as they are. */
export const chatBody = z.object({
  model,
  messages: z.array(message).min(1),
  ...stream,
  max_tokens: z.int().min(0).nullish(),
  max_completion_tokens: z.int().min(0).nullish(),
  temperature: z.number().nullish(),
  n: z.int().min(1).max(128).nullish(),
  tools: z.array(tool).nullish(),
  response_format: z.object({ type: z.string() }).nullish(),
})

const tokens = z.array(z.int().min(0))

/** The same of a legacy completion. */
export const completionBody = z.object({
  model,
  prompt: z.union([z.string(), z.array(z.string()), tokens, z.array(tokens)]),
  ...stream,
  max_tokens: z.int().min(0).nullish(),
  temperature: z.number().nullish(),
  n: z.int().min(1).max(128).nullish(),
})

const someTokens = tokens.min(1)

/** The same of embeddings. */
export const embeddingBody = z.object({
  model,
  input: z.union([z.string().min(1), z.array(z.string()).min(1), someTokens, z.array(someTokens).min(1)]),
  encoding_format: z.enum(['float', 'base64']).optional(),
  dimensions: z.int().min(1).optional(),
})
