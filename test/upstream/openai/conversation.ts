import { z } from 'zod'
import { hasOpenObjects } from '../open-objects.ts'
import type { ScriptedError } from '../script.ts'

const CONVERSATION = z.object({
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.unknown().optional(),
      tool_call_id: z.string().optional(),
      tool_calls: z.array(z.object({ id: z.string() })).optional(),
    }),
  ),
  model: z.string().optional(),
  response_format: z
    .object({
      type: z.string(),
      json_schema: z
        .object({ name: z.string(), schema: z.unknown(), strict: z.boolean().nullish() })
        .optional(),
    })
    .optional(),
  stream: z.boolean().nullish(),
  stream_options: z.unknown().optional(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().nullish(),
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
})

type Conversation = z.infer<typeof CONVERSATION>

/** What is wrong between fields or messages that are each right by themselves; undefined for other bodies. */
export function conversationError(body: object): ScriptedError | undefined {
  const { data } = CONVERSATION.safeParse(body)
  return data && (toolError(data) ?? optionError(data))
}

function toolError({ messages }: Conversation): ScriptedError | undefined {
  let open: string[] = []
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!message.tool_call_id || !open.includes(message.tool_call_id)) return strayTool(index)
      open = open.filter((id) => id !== message.tool_call_id)
    } else {
      if (open.length > 0) return unansweredCalls(open, index)
      open = message.tool_calls?.map((call) => call.id) ?? []
    }
  }
  return open.length > 0 ? unansweredCalls(open, messages.length - 1) : undefined
}

function strayTool(index: number): ScriptedError {
  const message =
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
  return { message, param: `messages.[${index}].role` }
}

function unansweredCalls(ids: readonly string[], index: number): ScriptedError {
  const rule =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
  const message = `${rule} The following tool_call_ids did not have response messages: ${ids.join(', ')}`
  return { message, param: `messages.[${index}].role` }
}

function optionError(body: Conversation): ScriptedError | undefined {
  const { type, json_schema: asked } = body.response_format ?? {}
  if (type === 'json_schema' && body.model?.startsWith('gpt-3.5')) {
    const message =
      "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    return { message, param: 'response_format' }
  }
  if (asked?.strict && lacksRequired(asked.schema)) {
    const message = `Invalid schema for response_format '${asked.name}': 'required' is required to be supplied and to be an array including every key in properties.`
    return { message, param: 'response_format' }
  }
  if (asked?.strict && hasOpenObjects(asked.schema)) {
    const message = `Invalid schema for response_format '${asked.name}': 'additionalProperties' is required to be supplied and to be false.`
    return { message, param: 'response_format' }
  }
  if (body.stream_options && !body.stream) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    return { message, param: 'stream_options' }
  }
  if (body.top_logprobs && !body.logprobs) {
    const message = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled."
    return { message, param: 'top_logprobs' }
  }
  if (body.tool_choice && !body.tools) {
    const message =
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
    return { message, param: 'tool_choice' }
  }
  const wantsJson = body.response_format?.type === 'json_object'
  if (wantsJson && !/json/i.test(JSON.stringify(body.messages.map(({ content }) => content)))) {
    const message =
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
    return { message, param: 'messages' }
  }
  return undefined
}

/** Whether an object of a schema leaves it open whether one of its properties is there. */
function lacksRequired(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.some(lacksRequired)
  if (typeof schema !== 'object' || schema === null) return false
  const { properties = {}, required = [], ...rest } = schema as { properties?: object; required?: unknown[] }
  if (Object.keys(properties).some((name) => !required.includes(name))) return true
  return Object.values({ ...properties, ...rest }).some(lacksRequired)
}
