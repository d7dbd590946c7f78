import { claudeReasoning as format, type ReasoningDetail, signatureIn } from '#provider'
import type { Block } from './native.ts'

export function detailOf(block: Block, index: number): ReasoningDetail | undefined {
  if (block.type === 'redacted_thinking')
    return { type: 'reasoning.encrypted', format, index, data: String(block.data ?? '') }
  if (block.type !== 'thinking') return undefined
  const { thinking = '', signature } = block as { thinking?: string; signature?: string }
  return { type: 'reasoning.text', format, index, text: thinking, ...(signature && { signature }) }
}

/** The block as it came from the model; undefined for what it did not sign. */
export function blockOf(detail: ReasoningDetail): Block | undefined {
  if (detail.format !== undefined && detail.format !== format) return undefined
  if (detail.type === 'reasoning.encrypted' && detail.data !== undefined)
    return { type: 'redacted_thinking', data: detail.data }
  const signature = signatureIn(detail, format)
  if (detail.type !== 'reasoning.text' || signature === undefined) return undefined
  return { type: 'thinking', thinking: detail.text ?? '', signature }
}

export const isThinking = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking'
