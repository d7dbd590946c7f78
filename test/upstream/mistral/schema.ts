import { z } from 'zod'

const text = z.string()
const object = z.record(z.string(), z.unknown())
const textPart = z.strictObject({ type: z.literal('text'), text })
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.union([text, z.strictObject({ url: text, detail: text.nullish() })]),
})
const documentPart = z.strictObject({
  type: z.literal('document_url'),
  document_url: text,
  document_name: text.nullish(),
})
const thinkingPart = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.array(textPart),
  closed: z.boolean().optional(),
})
const said = z.union([text, z.array(textPart)])

const toolCall = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9]{9}$/, 'Tool call id must be a-z, A-Z, 0-9, with a length of 9.'),
  type: z.literal('function').optional(),
  function: z.strictObject({ name: text, arguments: z.union([text, object]) }),
  index: z.int().optional(),
})

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: said }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([text, z.array(z.discriminatedUnion('type', [textPart, imagePart, documentPart]))]),
  }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: z.union([text, z.array(z.discriminatedUnion('type', [textPart, thinkingPart]))]).nullish(),
      tool_calls: z.array(toolCall).nullish(),
      prefix: z.boolean().optional(),
    })
    .refine(({ content, tool_calls }) => Boolean(content?.length || tool_calls?.length), {
      error: 'Assistant message must have either content or tool_calls, but not none.',
    }),
  z.strictObject({
    role: z.literal('tool'),
    content: said.nullish(),
    tool_call_id: toolCall.shape.id,
    name: text.nullish(),
  }),
])

const tool = z.strictObject({
  type: z.literal('function').optional(),
  function: z.strictObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
    description: text.optional(),
    parameters: object,
    strict: z.boolean().optional(),
  }),
})

/** The body of a chat completion, field by field as the service documents it; nothing else is let in. */
export const chatBody = z.strictObject({
  model: text,
  messages: z.array(message).min(1),
  temperature: z.number().min(0).max(1.5).nullish(),
  top_p: z.number().min(0).max(1).optional(),
  max_tokens: z.int().min(0).nullish(),
  stream: z.boolean().optional(),
  stop: z.union([text, z.array(text)]).optional(),
  random_seed: z.int().min(0).nullish(),
  response_format: z
    .strictObject({
      type: z.enum(['text', 'json_object', 'json_schema']),
      json_schema: z
        .strictObject({
          name: text,
          description: text.nullish(),
          schema: object,
          strict: z.boolean().optional(),
        })
        .nullish(),
    })
    .optional(),
  tools: z.array(tool).nullish(),
  tool_choice: z
    .union([
      z.enum(['auto', 'none', 'any', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: text }) }),
    ])
    .optional(),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  n: z.int().min(1).nullish(),
  prediction: object.optional(),
  parallel_tool_calls: z.boolean().optional(),
  prompt_mode: z.literal('reasoning').nullish(),
  reasoning_effort: z.enum(['none', 'high']).nullish(),
  metadata: object.nullish(),
  safe_prompt: z.boolean().optional(),
})

export type ChatBody = z.infer<typeof chatBody>
