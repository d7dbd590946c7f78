import { z } from 'zod'
import { sample } from '../openai/sample.ts'
import { countTokens, tokenize } from '../openai/tokens.ts'
import type { Script } from '../script.ts'

/** The fields of a request that shape its answer. */
export const shape = z.object({
  model: z.string().default('claude-sonnet-4-5'),
  max_tokens: z.number().default(Number.POSITIVE_INFINITY),
  stream: z.boolean().default(false),
  system: z.unknown().optional(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })).default([]),
  tools: z
    .array(z.looseObject({ name: z.string().optional(), input_schema: z.unknown().optional() }))
    .default([]),
  tool_choice: z.looseObject({ type: z.string(), name: z.string().optional() }).optional(),
  thinking: z.looseObject({ type: z.string() }).optional(),
  output_config: z.looseObject({ format: z.looseObject({ schema: z.unknown() }).nullish() }).optional(),
})

export type Shape = z.infer<typeof shape>

export interface Block {
  readonly type: string
  readonly [field: string]: unknown
}

/** What the model says, by its script or, without one, by itself. */
export interface Said {
  readonly blocks: readonly Block[]
  /** The deltas of a text, where the script gives them one by one. */
  readonly deltas: readonly string[]
  readonly stopReason: string
}

export function said(request: Shape, script: Script): Said {
  const thoughts = script.reasoning ?? (thinks(request) ? 'Let me think.' : undefined)
  const calls = toolCalls(request, script)
  const deltas = textDeltas(request, script, calls.length > 0)
  const cut = deltas.length > request.max_tokens
  const kept = cut ? deltas.slice(0, request.max_tokens) : deltas
  const blocks = [
    ...(thoughts === undefined
      ? []
      : [{ type: 'thinking', thinking: thoughts, signature: signatureOf(thoughts) }]),
    ...(kept.length > 0 ? [{ type: 'text', text: kept.join('') }] : []),
    ...calls,
  ]
  const stopReason = script.finishReason ?? (cut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn')
  return { blocks, deltas: kept, stopReason }
}

/** What the service would sign; the same thoughts get the same signature. */
export const signatureOf = (thoughts: string): string => `sig+${Buffer.from(thoughts).toString('base64')}`

const thinks = ({ thinking }: Shape): boolean => thinking?.type === 'enabled' || thinking?.type === 'adaptive'

function textDeltas(request: Shape, { content, refusal }: Script, calls: boolean): readonly string[] {
  if (Array.isArray(content)) return content as readonly string[]
  if (typeof content === 'string') return tokenize(content)
  if (refusal !== undefined) return tokenize(refusal)
  if (calls) return []
  const format = request.output_config?.format
  return tokenize(format ? JSON.stringify(sample(format.schema)) : `You said: ${lastText(request)}`)
}

function toolCalls({ tools, tool_choice: choice }: Shape, script: Script): Block[] {
  const scripted = script.toolCalls?.map(({ id, name, arguments: input }, i) => ({
    type: 'tool_use',
    id: id ?? `toolu_${i}`,
    name,
    input: typeof input === 'string' ? JSON.parse(input || '{}') : input,
  }))
  if (scripted) return scripted
  const speaks = script.content !== undefined || script.refusal !== undefined
  if (speaks || (choice?.type !== 'any' && choice?.type !== 'tool')) return []
  const tool = tools.find(({ name }) => choice.name === undefined || name === choice.name)
  return tool
    ? [{ type: 'tool_use', id: 'toolu_0', name: tool.name, input: sample(tool.input_schema) ?? {} }]
    : []
}

/** Text of the newest message from the user. */
function lastText({ messages }: Shape): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  if (typeof content === 'string') return content
  const blocks = z.array(z.object({ text: z.string().default('') })).safeParse(content).data ?? []
  return blocks.map(({ text }) => text).join('')
}

export const inputTokens = ({ system, messages, tools }: Shape): number =>
  countTokens(system) + countTokens(messages) + (tools.length > 0 ? countTokens(tools) : 0)

export function usageOf(request: Shape, { blocks }: Said) {
  return {
    input_tokens: inputTokens(request),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: blocks.reduce(
      (sum, { text, thinking, input }) =>
        sum + countTokens(text) + countTokens(thinking) + countTokens(input),
      1,
    ),
    service_tier: 'standard',
  }
}
