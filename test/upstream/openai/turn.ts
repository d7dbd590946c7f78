import { z } from 'zod'
import type { Script, ScriptedToolCall } from '../script.ts'
import { sample } from './sample.ts'
import { tokenize } from './tokens.ts'

/** The fields of a chat request that shape its answer. */
export const CHAT = z.object({
  model: z.string().default('gpt-4o-mini'),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })).default([]),
  n: z.number().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .object({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  logprobs: z.boolean().nullish(),
  max_tokens: z.number().nullish(),
  max_completion_tokens: z.number().nullish(),
  tools: z
    .array(
      z.object({ function: z.object({ name: z.string(), parameters: z.unknown().optional() }).optional() }),
    )
    .optional(),
  tool_choice: z
    .union([z.string(), z.object({ function: z.object({ name: z.string() }).optional() })])
    .optional(),
  response_format: z
    .object({ type: z.string(), json_schema: z.object({ schema: z.unknown().optional() }).optional() })
    .optional(),
})

export type ChatRequest = z.infer<typeof CHAT>

export interface ToolCall {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** What one choice says, cut as a stream would cut it. */
export interface Turn {
  readonly content: readonly string[]
  readonly reasoning: readonly string[]
  readonly refusal: readonly string[]
  readonly toolCalls: readonly ToolCall[]
  readonly finishReason: string
}

/** What the model says to a request, by its script or, without one, by itself. */
export function turnOf(request: ChatRequest, script: Script, index: number): Turn {
  const toolCalls = (script.toolCalls ?? unscriptedCalls(request, script)).map((call, position) => ({
    id: call.id ?? `call_${index}_${position}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
  }))
  const limit = request.max_completion_tokens ?? request.max_tokens ?? Number.POSITIVE_INFINITY
  const content = contentOf(request, script, toolCalls.length > 0, index)
  const cut = content.length > limit
  return {
    content: cut ? content.slice(0, limit) : content,
    reasoning: tokenize(script.reasoning ?? ''),
    refusal: tokenize(script.refusal ?? ''),
    toolCalls,
    finishReason: script.finishReason ?? (cut ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop'),
  }
}

function contentOf(request: ChatRequest, script: Script, calls: boolean, index: number): readonly string[] {
  if (Array.isArray(script.content)) return script.content
  if (typeof script.content === 'string') return tokenize(script.content)
  if (calls || script.refusal !== undefined) return []
  const format = request.response_format
  if (format?.type === 'json_schema') return tokenize(JSON.stringify(sample(format.json_schema?.schema)))
  const said = `You said: ${lastUserText(request.messages)}`
  if (format?.type === 'json_object') return tokenize(JSON.stringify({ answer: said }))
  return tokenize(index === 0 ? said : `${said} [${index}]`)
}

/** Without a script a tool is called only if the request insists on it. */
function unscriptedCalls(request: ChatRequest, script: Script): readonly ScriptedToolCall[] {
  const { tool_choice: choice, tools = [] } = request
  if (script.content !== undefined || script.refusal !== undefined) return []
  const named = typeof choice === 'object' ? choice.function?.name : undefined
  if (choice !== 'required' && named === undefined) return []
  const tool = tools.find(({ function: f }) => f && (named === undefined || f.name === named))?.function
  return tool ? [{ name: tool.name, arguments: JSON.stringify(sample(tool.parameters) ?? {}) }] : []
}

/** Text of the newest message from the user, parts joined. */
export function lastUserText(messages: ChatRequest['messages']): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  if (typeof content === 'string') return content
  const parts = z.array(z.object({ text: z.string().default('') })).safeParse(content).data ?? []
  return parts.map(({ text }) => text).join('')
}
