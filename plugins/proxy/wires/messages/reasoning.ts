import type { Block } from './schema.ts'

/** Marks reasoning that Claude signed. */
const format = 'anthropic-claude-v1'

/** Reasoning as clients of OpenAI's wire carry it from turn to turn. */
export interface ReasoningDetail {
  readonly type: string
  readonly format?: string
  readonly index?: number
  readonly text?: string
  readonly summary?: string
  readonly signature?: string
  readonly data?: string
}

export const isThinking = (type: string): boolean => type === 'thinking' || type === 'redacted_thinking'

export function detailOf(block: Block, index: number): ReasoningDetail {
  if (block.type === 'redacted_thinking')
    return { type: 'reasoning.encrypted', format, index, data: block.data as string }
  const { thinking, signature } = block as { thinking?: string; signature?: string }
  return {
    type: 'reasoning.text',
    format,
    index,
    text: thinking ?? '',
    ...(signature !== undefined && { signature }),
  }
}

/** The block that a client is shown; what is encrypted for another provider's eyes only is none. */
export function thinkingBlock(detail: ReasoningDetail): Block | undefined {
  if (detail.type === 'reasoning.encrypted') {
    return detail.format === format ? { type: 'redacted_thinking', data: detail.data ?? '' } : undefined
  }
  return {
    type: 'thinking',
    thinking: detail.text ?? detail.summary ?? '',
    signature: detail.signature ?? '',
  }
}
