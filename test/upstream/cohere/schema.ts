import { z } from 'zod'

const text = z.string()
const object = z.record(z.string(), z.unknown())

const textBlock = z.strictObject({ type: z.literal('text'), text })
const imageBlock = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: text, detail: z.enum(['auto', 'low', 'high']).optional() }),
})
const thinkingBlock = z.strictObject({ type: z.literal('thinking'), thinking: text })
const documentBlock = z.strictObject({
  type: z.literal('document'),
  document: z.strictObject({ id: text.optional(), data: z.union([text, object]) }),
})

const toolCall = z.strictObject({
  id: text,
  type: z.literal('function'),
  function: z.strictObject({ name: text, arguments: text }),
})

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: z.union([text, z.array(textBlock)]) }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([text, z.array(z.discriminatedUnion('type', [textBlock, imageBlock, documentBlock]))]),
  }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: z
        .union([text.min(1), z.array(z.discriminatedUnion('type', [textBlock, thinkingBlock]))])
        .optional(),
      tool_plan: text.optional(),
      tool_calls: z.array(toolCall).min(1).optional(),
      citations: z.array(object).optional(),
    })
    .refine(({ content, tool_calls }) => content !== undefined || tool_calls !== undefined, {
      error: 'an assistant message must have content or tool calls',
    }),
  z.strictObject({
    role: z.literal('tool'),
    tool_call_id: text,
    content: z.union([text, z.array(z.discriminatedUnion('type', [textBlock, documentBlock]))]),
  }),
])

const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: text.regex(
      /^[A-Za-z_]\w*$/,
      'tool names can only contain A-Z, a-z, 0-9 and _, and cannot begin with a digit',
    ),
    description: text.optional(),
    parameters: object,
  }),
})

/** The body of a chat request, field by field as the service documents it; nothing else is let in. */
export const chatBody = z.strictObject({
  model: text,
  stream: z.boolean(),
  messages: z.array(message).min(1),
  tools: z.array(tool).min(1).optional(),
  strict_tools: z.boolean().optional(),
  tool_choice: z.enum(['REQUIRED', 'NONE']).optional(),
  documents: z.array(z.union([text, object])).optional(),
  citation_options: object.optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object'), json_schema: object.optional() }),
    ])
    .optional(),
  safety_mode: z.enum(['CONTEXTUAL', 'STRICT', 'OFF']).optional(),
  max_tokens: z.int().min(1).optional(),
  stop_sequences: z.array(text).max(5).optional(),
  temperature: z.number().min(0).optional(),
  seed: z.int().min(0).optional(),
  frequency_penalty: z.number().min(0).max(1).optional(),
  presence_penalty: z.number().min(0).max(1).optional(),
  k: z.int().min(0).max(500).optional(),
  p: z.number().min(0.01).max(0.99).optional(),
  logprobs: z.boolean().optional(),
  thinking: z
    .strictObject({ type: z.enum(['enabled', 'disabled']), token_budget: z.int().min(1).optional() })
    .optional(),
  priority: z.int().min(0).max(999).optional(),
})

export type ChatBody = z.infer<typeof chatBody>

/** The body of an embedding request: what the embeddings are for must be said. */
export const embedBody = z.strictObject({
  model: text,
  texts: z.array(text).min(1).max(96),
  input_type: z.enum(['search_document', 'search_query', 'classification', 'clustering', 'image']),
  embedding_types: z.array(z.enum(['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'])).optional(),
  output_dimension: z.union([z.literal(256), z.literal(512), z.literal(1024), z.literal(1536)]).optional(),
  truncate: z.enum(['NONE', 'START', 'END']).optional(),
})

/** The body of a request that cuts a text into tokens. */
export const tokenizeBody = z.strictObject({ model: text, text: text.min(1).max(65_536) })
