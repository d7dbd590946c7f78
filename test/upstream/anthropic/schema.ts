import { z } from 'zod'
import { hasOpenObjects } from '../open-objects.ts'

const text = z.string()
const filled = z.string().min(1)
const spoken = text.regex(/\S/, 'text content blocks must contain non-whitespace text')
const schema = z.looseObject({ type: z.literal('object') })

const cache_control = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullish()
const media = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
const base64 = z.base64().min(1)
const citations = z.unknown().optional()

const textBlock = z.strictObject({ type: z.literal('text'), text: spoken, cache_control, citations })
const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('base64'), media_type: media, data: base64 }),
    z.strictObject({ type: z.literal('url'), url: z.url() }),
    z.strictObject({ type: z.literal('file'), file_id: filled }),
  ]),
  cache_control,
})
const documentBlock = z.strictObject({
  type: z.literal('document'),
  source: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: base64 }),
    z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: text }),
    z.strictObject({
      type: z.literal('content'),
      content: z.union([text, z.array(z.union([textBlock, imageBlock]))]),
    }),
    z.strictObject({ type: z.literal('url'), url: z.url() }),
    z.strictObject({ type: z.literal('file'), file_id: filled }),
  ]),
  title: text.nullish(),
  context: text.nullish(),
  citations,
  cache_control,
})
const searchResult = z.strictObject({
  type: z.literal('search_result'),
  source: text,
  title: text,
  content: z.array(textBlock).min(1),
  citations,
  cache_control,
})
const id = text.regex(/^[a-zA-Z0-9_-]+$/)
const name = text.regex(/^[a-zA-Z0-9_-]{1,128}$/)
const caller = z.unknown().optional()
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id,
  name,
  input: z.record(text, z.unknown()),
  cache_control,
  caller,
})
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: id,
  content: z.union([text, z.array(z.union([textBlock, imageBlock, documentBlock, searchResult]))]).optional(),
  is_error: z.boolean().optional(),
  cache_control,
})
const thinking = z.strictObject({ type: z.literal('thinking'), thinking: text, signature: filled })
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: filled })
const serverToolUse = z.strictObject({
  type: z.literal('server_tool_use'),
  id,
  name: filled,
  input: z.record(text, z.unknown()),
  cache_control,
  caller,
})
const serverResult = z.strictObject({
  type: z.enum(['web_search_tool_result', 'web_fetch_tool_result', 'code_execution_tool_result']),
  tool_use_id: id,
  content: z.unknown(),
  cache_control,
  caller,
})

const userBlock = z.discriminatedUnion('type', [
  textBlock,
  imageBlock,
  documentBlock,
  searchResult,
  toolResult,
])
const assistantBlock = z.discriminatedUnion('type', [
  textBlock,
  toolUse,
  thinking,
  redacted,
  serverToolUse,
  serverResult,
])

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('user'), content: z.union([spoken, z.array(userBlock).min(1)]) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([spoken, z.array(assistantBlock).min(1)]),
  }),
  z.strictObject({ role: z.literal('system'), content: z.union([spoken, z.array(textBlock).min(1)]) }),
])

const customTool = z.strictObject({
  type: z.literal('custom').nullish(),
  name,
  description: text.optional(),
  input_schema: schema,
  cache_control,
  strict: z.boolean().optional(),
  input_examples: z.array(z.unknown()).optional(),
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
})
const serverTool = z.looseObject({ type: text.regex(/_\d{8}$/), name: filled })

const disable_parallel_tool_use = z.boolean().optional()
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use }),
  z.strictObject({ type: z.literal('any'), disable_parallel_tool_use }),
  z.strictObject({ type: z.literal('tool'), name, disable_parallel_tool_use }),
  z.strictObject({ type: z.literal('none') }),
])

const answerSchema = z.record(text, z.unknown()).refine((one) => !hasOpenObjects(one), {
  error: "For 'object' type, 'additionalProperties' must be explicitly set to false",
})

const conversation = {
  model: filled,
  messages: z.array(message).min(1),
  system: z.union([text, z.array(textBlock)]).optional(),
  tools: z.array(z.union([customTool, serverTool])).optional(),
  tool_choice: toolChoice.optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('enabled'),
        budget_tokens: z.int().min(1024),
        display: text.nullish(),
      }),
      z.strictObject({ type: z.literal('adaptive'), display: text.nullish() }),
      z.strictObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.strictObject({ type: z.literal('json_schema'), schema: answerSchema }).nullish(),
    })
    .optional(),
  output_format: z.strictObject({ type: z.literal('json_schema'), schema: answerSchema }).optional(),
  cache_control,
  container: z.unknown().optional(),
  context_management: z.unknown().optional(),
  mcp_servers: z.array(z.unknown()).optional(),
}

/** The body of a Messages request, field by field as the service documents it; nothing else is let in. */
export const messagesBody = z.strictObject({
  ...conversation,
  max_tokens: z.int().min(1),
  metadata: z.strictObject({ user_id: text.max(256).nullish() }).optional(),
  stop_sequences: z.array(spoken).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
})

/** The body of a token count. */
export const countBody = z.strictObject(conversation)

export type MessagesBody = z.infer<typeof messagesBody>
