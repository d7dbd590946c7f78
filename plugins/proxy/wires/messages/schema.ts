import { z } from 'zod'

/** What a source of its type must have; those of other types are carried as they came. */
const needed: Readonly<Record<string, readonly string[]>> = { base64: ['media_type', 'data'], url: ['url'] }

/** A block that may have a source of bytes, such as an image or a document. */
const sourced = z.looseObject({ type: z.string() }).superRefine(({ source }, context) => {
  if (typeof source !== 'object' || source === null) return
  const fields = source as Readonly<Record<string, unknown>>
  for (const name of needed[String(fields.type)] ?? [])
    if (typeof fields[name] !== 'string')
      context.addIssue({ code: 'custom', path: ['source', name], message: 'it is missing: expected string' })
})

const text = z.looseObject({ type: z.literal('text'), text: z.string() })
const toolUse = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()).optional(),
})
const toolResult = z.looseObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(sourced)]).nullish(),
  is_error: z.boolean().nullish(),
})
const known = new Set(['text', 'tool_use', 'tool_result'])
const other = sourced.refine(({ type }) => !known.has(type))

const block = z.union([text, toolUse, toolResult, other])

/** A tool of the client's own has a name and says what it takes; one of the provider's own has a type. */
const tool = z
  .looseObject({
    type: z.string().nullish(),
    name: z.string().optional(),
    input_schema: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({ type, name }) => type || name !== undefined, { path: ['name'], error: 'it is missing' })
  .refine(({ type, input_schema: schema }) => type || schema !== undefined, {
    path: ['input_schema'],
    error: 'it is missing',
  })

const format = z.looseObject({ type: z.string(), schema: z.record(z.string(), z.unknown()).optional() })

/** The fields that the gateway relies on in a body; all others are carried as they came. */
export const messagesBody = z.looseObject({
  model: z.string().min(1).max(256),
  max_tokens: z.int().min(0),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['user', 'assistant', 'system']),
        content: z.union([z.string(), z.array(block)]),
      }),
    )
    .min(1),
  system: z.union([z.string(), z.array(text)]).nullish(),
  stream: z.boolean().nullish(),
  stop_sequences: z.array(z.string()).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .looseObject({
      type: z.enum(['auto', 'any', 'tool', 'none']),
      name: z.string().optional(),
      disable_parallel_tool_use: z.boolean().nullish(),
    })
    .nullish(),
  metadata: z.looseObject({ user_id: z.string().nullish() }).nullish(),
  output_config: z.looseObject({ format: format.nullish() }).nullish(),
  /** Where clients of the beta have it. */
  output_format: format.nullish(),
})

export type MessagesBody = z.infer<typeof messagesBody>
export type Block = z.infer<typeof other>
