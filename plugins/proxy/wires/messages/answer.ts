import { jsonrepair } from 'jsonrepair'
import { type Choice, type Completion, type Message, newId, type ToolCall } from '#kernel'
import { cutJson, parseForeign } from '#kit'
import { type ReasoningDetail, thinkingBlock } from './reasoning.ts'
import type { Block } from './schema.ts'
import { stopOf } from './stop.ts'
import { nativeUsage } from './usage.ts'

/** The answer as a message. */
export function messageOf(body: Completion): unknown {
  const choice: Choice = body.choices?.[0] ?? { index: 0, finish_reason: null }
  return {
    id: body.id ?? newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: body.model ?? '',
    content: blocksOf(choice.message ?? { role: 'assistant', content: choice.text ?? '' }),
    ...stopOf(choice, {
      calls: (choice.message?.tool_calls ?? []).length > 0,
      refusal: !!choice.message?.refusal,
    }),
    usage: nativeUsage(body.usage),
  }
}

interface Placed {
  readonly index: number
  readonly block: Block
}

/** Reasoning, texts and tool calls, each where it stood as far as that is known. */
function blocksOf(message: Message): Block[] {
  const placed: Placed[] = []
  const details = listOf<ReasoningDetail>(message.reasoning_details)
  for (const detail of details) {
    const block = thinkingBlock(detail)
    if (block) placed.push({ index: detail.index ?? 0, block })
  }
  const thoughts = message.reasoning_content ?? message.reasoning
  if (details.length === 0 && typeof thoughts === 'string' && thoughts !== '')
    placed.push({ index: 0, block: { type: 'thinking', thinking: thoughts, signature: '' } })
  for (const { index, ...block } of listOf<Block & { index?: number }>(message.vendor_blocks))
    placed.push({ index: index ?? 0, block: block as Block })
  return inPlace(placed, [...textsOf(message), ...(message.tool_calls ?? []).map(toolUseOf)])
}

function textsOf({ content, refusal }: Message): Block[] {
  const texts = typeof content === 'string' ? [content] : (content ?? []).map((part) => part.text)
  return [...texts, refusal].flatMap((text) =>
    typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [],
  )
}

function toolUseOf({ id, function: { name, arguments: json }, extra }: ToolCall): Block {
  const own = (extra as { anthropic?: object } | undefined)?.anthropic
  return { type: 'tool_use', id, name, input: inputOf(json), ...own }
}

/** Arguments that were cut off at the length limit are given as far as they came, without keys that have no value yet. */
function inputOf(json: string): unknown {
  const input = parsed(json, parseForeign) ?? parsed(json, saidIn)
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {}
}

function saidIn(json: string): unknown {
  const { hasGap, endsInText, complete } = cutJson(json)
  return parseForeign(jsonrepair(hasGap && !endsInText ? complete : json))
}

function parsed(json: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(json)
  } catch {
    return undefined
  }
}

function inPlace(placed: readonly Placed[], rest: readonly Block[]): Block[] {
  const blocks: Block[] = []
  const waiting = [...rest]
  for (const { index, block } of placed.toSorted((a, b) => a.index - b.index)) {
    blocks.push(...waiting.splice(0, Math.max(0, index - blocks.length)), block)
  }
  return [...blocks, ...waiting]
}

const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : [])
