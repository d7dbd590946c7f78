import { z } from 'zod'

const text = z.string()
const name = z.string().max(64).optional()
const metadata = z.record(z.string(), z.string()).nullish()
const jsonSchema = z.record(z.string(), z.unknown())

const textPart = z.strictObject({ type: z.literal('text'), text })
const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: text })
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({ url: text, detail: z.enum(['auto', 'low', 'high']).optional() }),
})
const audioPart = z.strictObject({
  type: z.literal('input_audio'),
  input_audio: z.strictObject({ data: text, format: z.enum(['wav', 'mp3']) }),
})
const filePart = z.strictObject({
  type: z.literal('file'),
  file: z.strictObject({ file_data: text.optional(), file_id: text.optional(), filename: text.optional() }),
})

const textContent = z.union([text, z.array(textPart)])
const userPart = z.discriminatedUnion('type', [textPart, imagePart, audioPart, filePart])
const assistantPart = z.discriminatedUnion('type', [textPart, refusalPart])

const callId = text.max(40, 'string too long. Expected a string with maximum length 40')

const toolCall = z.discriminatedUnion('type', [
  z.strictObject({
    id: callId,
    type: z.literal('function'),
    function: z.strictObject({ name: text, arguments: text }),
  }),
  z.strictObject({
    id: text,
    type: z.literal('custom'),
    custom: z.strictObject({ name: text, input: text }),
  }),
])

const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: textContent, name }),
  z.strictObject({ role: z.literal('developer'), content: textContent, name }),
  z.strictObject({ role: z.literal('user'), content: z.union([text, z.array(userPart)]), name }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([text, z.array(assistantPart)]).nullish(),
    refusal: text.nullish(),
    name,
    audio: z.strictObject({ id: text }).nullish(),
    tool_calls: z.array(toolCall).min(1).optional(),
    function_call: z.strictObject({ name: text, arguments: text }).nullish(),
    annotations: z.array(z.unknown()).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), content: textContent, tool_call_id: callId, name }),
  z.strictObject({ role: z.literal('function'), content: text.nullable(), name: text }),
])

const functionTool = z.strictObject({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
  description: text.optional(),
  parameters: jsonSchema.optional(),
  strict: z.boolean().nullish(),
})

const tool = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('function'), function: functionTool }),
  z.strictObject({ type: z.literal('custom'), custom: jsonSchema }),
])

const toolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: text }) }),
  z.strictObject({ type: z.literal('custom'), custom: z.strictObject({ name: text }) }),
  z.strictObject({ type: z.literal('allowed_tools'), allowed_tools: jsonSchema }),
])

const responseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    json_schema: z.strictObject({
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
      description: text.optional(),
      schema: jsonSchema.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
])

const sampling = {
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  seed: z.int().nullish(),
  stop: z.union([text, z.array(text).max(4)]).nullish(),
  n: z.int().min(1).max(128).nullish(),
  max_tokens: z.int().min(1).nullish(),
  user: text.optional(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
}

/** The body of a chat completion, field by field as the service documents it; nothing else is let in. */
export const chatBody = z.strictObject({
  ...sampling,
  model: text,
  messages: z.array(message).min(1),
  audio: jsonSchema.nullish(),
  function_call: z.union([z.enum(['none', 'auto']), z.strictObject({ name: text })]).optional(),
  functions: z.array(functionTool).max(128).optional(),
  logprobs: z.boolean().nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  metadata,
  modalities: z.array(z.enum(['text', 'audio'])).nullish(),
  moderation: jsonSchema.nullish(),
  parallel_tool_calls: z.boolean().optional(),
  prediction: z.strictObject({ type: z.literal('content'), content: textContent }).nullish(),
  prompt_cache_key: text.nullish(),
  prompt_cache_options: jsonSchema.optional(),
  prompt_cache_retention: z.enum(['in_memory', '24h']).nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  response_format: responseFormat.optional(),
  safety_identifier: text.nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'scale', 'priority', 'fast']).nullish(),
  store: z.boolean().nullish(),
  tool_choice: toolChoice.optional(),
  tools: z.array(tool).min(1).max(128).optional(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
  web_search_options: jsonSchema.optional(),
})

const tokenIds = z.array(z.int().min(0)).min(1)

/** The body of a legacy completion. */
export const completionBody = z.strictObject({
  ...sampling,
  model: text,
  prompt: z.union([text, z.array(text).min(1), tokenIds, z.array(tokenIds).min(1)]),
  best_of: z.int().min(1).max(20).nullish(),
  echo: z.boolean().nullish(),
  logprobs: z.int().min(0).max(5).nullish(),
  suffix: text.nullish(),
})

/** The body of an embedding request. */
export const moderationBody = z.strictObject({
  model: text.optional(),
  input: z.union([text, z.array(text).min(1).max(64)]),
})

export const embeddingBody = z.strictObject({
  model: text,
  input: z.union([text.min(1), z.array(text).min(1).max(2048), tokenIds, z.array(tokenIds).min(1).max(2048)]),
  dimensions: z.int().min(1).optional(),
  encoding_format: z.enum(['float', 'base64']).optional(),
  user: text.optional(),
})
