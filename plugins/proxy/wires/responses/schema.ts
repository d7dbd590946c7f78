import { z } from 'zod'

const named = z.looseObject({ type: z.string() })

const format = z.looseObject({
  type: z.enum(['text', 'json_object', 'json_schema']),
  name: z.string().optional(),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
  strict: z.boolean().nullish(),
})

const metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((pairs) => Object.keys(pairs).length <= 16, { error: 'At most 16 pairs' })

/** The fields that the gateway relies on in a body; unknown ones are carried as they came. */
export const responsesBody = z.looseObject({
  model: z.string().min(1).max(256),
  input: z.union([z.string(), z.array(z.looseObject({ type: z.string().optional() }))]).nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().nullish(),
  store: z.boolean().nullish(),
  metadata: metadata.nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_obfuscation: z.boolean().nullish() }).nullish(),
  tools: z.array(named).nullish(),
  tool_choice: z.union([z.enum(['none', 'auto', 'required']), named]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tool_calls: z.int().nullish(),
  text: z
    .looseObject({ format: format.nullish(), verbosity: z.enum(['low', 'medium', 'high']).nullish() })
    .nullish(),
  reasoning: z
    .looseObject({
      effort: z.string().nullish(),
      summary: z.enum(['auto', 'concise', 'detailed', 'none']).nullish(),
      generate_summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  max_output_tokens: z.int().min(1).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  include: z.array(z.string()).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  service_tier: z.string().nullish(),
  background: z.boolean().nullish(),
})

export type ResponsesBody = z.infer<typeof responsesBody>

export type Fields = Readonly<Record<string, unknown>>

/** An item of a conversation: what is sent and what is answered have the same shapes. */
export interface Item {
  readonly type: string
  readonly id: string
  readonly [field: string]: unknown
}

/** Tells of a parameter that was changed or left out. */
export type Report = (change: string) => void
