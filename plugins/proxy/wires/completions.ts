import { z } from 'zod'
import { textAnswer, textEvents } from './answers.ts'
import { openaiWire } from './openai.ts'

const tokens = z.array(z.int().min(0))

const body = z.object({
  model: z.string().min(1).max(256),
  prompt: z.union([z.string(), z.array(z.string()), tokens, z.array(tokens)]),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
  max_tokens: z.int().min(0).nullish(),
  temperature: z.number().nullish(),
  n: z.int().min(1).max(128).nullish(),
})

export const completionsWire = openaiWire({
  id: 'completions',
  path: '/v1/completions',
  operation: 'completion',
  summary: 'Legacy completion, plain or streamed',
  body,
  answer: textAnswer,
  events: textEvents,
})
