import { z } from 'zod'
import { sample } from '../openai/sample.ts'
import { countTokens, tokenize } from '../openai/tokens.ts'
import type { Script } from '../script.ts'
import { signatureOf } from './conversation.ts'

const fields = z.record(z.string(), z.unknown())

/** The fields of a request that shape its answer. */
export const shape = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.array(fields) })).default([]),
  system: z.unknown().optional(),
  inferenceConfig: z.object({ maxTokens: z.number().optional() }).default({}),
  toolConfig: z
    .object({
      tools: z.array(z.object({ toolSpec: fields.optional() })),
      toolChoice: z
        .object({ any: fields, tool: z.object({ name: z.string() }) })
        .partial()
        .optional(),
    })
    .optional(),
  outputConfig: z
    .object({
      textFormat: z.object({ structure: z.object({ jsonSchema: z.object({ schema: z.string() }) }) }),
    })
    .optional(),
  additionalModelRequestFields: z
    .looseObject({ thinking: z.looseObject({ type: z.string() }).optional() })
    .default({}),
})

export type Shape = z.infer<typeof shape>
export type Block = Readonly<Record<string, unknown>>

/** What the model says, by its script or, without one, by itself. */
export interface Said {
  readonly blocks: readonly Block[]
  /** The deltas of a text, where the script gives them one by one. */
  readonly deltas: readonly string[]
  readonly stopReason: string
}

export function said(request: Shape, script: Script): Said {
  const { thinking } = request.additionalModelRequestFields
  const thinks = thinking !== undefined && thinking.type !== 'disabled'
  const thoughts = script.reasoning ?? (thinks ? 'Let me think.' : undefined)
  const calls = toolCalls(request, script)
  const most = request.inferenceConfig.maxTokens ?? Number.POSITIVE_INFINITY
  const deltas = textDeltas(request, script, calls.length > 0)
  const cut = deltas.length > most
  const kept = cut ? deltas.slice(0, most) : deltas
  const blocks = [
    ...(thoughts === undefined
      ? []
      : [{ reasoningContent: { reasoningText: { text: thoughts, signature: signatureOf(thoughts) } } }]),
    ...(kept.length > 0 ? [{ text: kept.join('') }] : []),
    ...calls,
  ]
  const own = cut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn'
  return { blocks, deltas: kept, stopReason: script.finishReason ?? own }
}

function textDeltas(request: Shape, { content, refusal }: Script, calls: boolean): readonly string[] {
  if (Array.isArray(content)) return content as readonly string[]
  if (typeof content === 'string') return tokenize(content)
  if (refusal !== undefined) return tokenize(refusal)
  if (calls) return []
  const schema = request.outputConfig?.textFormat.structure.jsonSchema.schema
  return tokenize(
    schema === undefined ? `You said: ${lastText(request)}` : JSON.stringify(sample(JSON.parse(schema))),
  )
}

function toolCalls({ toolConfig }: Shape, script: Script): Block[] {
  const scripted = script.toolCalls?.map(({ id, name, arguments: input }, i) => ({
    toolUse: {
      toolUseId: id ?? `tooluse_${i}`,
      name,
      input: typeof input === 'string' ? JSON.parse(input || '{}') : input,
    },
  }))
  if (scripted) return scripted
  const { toolChoice: choice, tools = [] } = toolConfig ?? {}
  const speaks = script.content !== undefined || script.refusal !== undefined
  if (speaks || (!choice?.any && !choice?.tool)) return []
  const spec = tools.find(({ toolSpec }) => !choice.tool || toolSpec?.name === choice.tool.name)?.toolSpec
  if (!spec) return []
  const { json } = spec.inputSchema as { json: unknown }
  return [{ toolUse: { toolUseId: 'tooluse_0', name: spec.name, input: sample(json) ?? {} } }]
}

/** Text of the newest message from the user. */
function lastText({ messages }: Shape): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? []
  return content.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

export function usageOf(request: Shape, { blocks }: Said) {
  const inputTokens = countTokens(request.system) + countTokens(request.messages)
  const outputTokens = 1 + blocks.reduce((sum, block) => sum + countTokens(block), 0)
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }
}
