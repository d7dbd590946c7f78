import { z } from 'zod'
import { chatAnswer, chatEvents } from './answers.ts'
import { openaiWire } from './openai.ts'

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

const body = z.object({
  model: z.string().min(1).max(256),
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.int().min(0).nullish(),
  max_completion_tokens: z.int().min(0).nullish(),
  temperature: z.number().nullish(),
  n: z.int().min(1).max(128).nullish(),
  tools: z.array(tool).nullish(),
  response_format: z.object({ type: z.string() }).nullish(),
})

export const chatWire = openaiWire({
  id: 'chat',
  path: '/v1/chat/completions',
  operation: 'chat',
  summary: 'Chat completion, plain or streamed',
  body,
  answer: chatAnswer,
  events: chatEvents,
})
