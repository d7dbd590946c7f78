import { claudeReasoning, type ReasoningDetail } from '#kit'
import type { Block, Reasoning } from './wire.ts'

const ofOthers = 'amazon-bedrock-v1'

export const formatOf = (maker: string): string => (maker === 'anthropic' ? claudeReasoning : ofOthers)

export function detailOf(
  { reasoningText, redactedContent }: Reasoning,
  index: number,
  maker: string,
): ReasoningDetail {
  const about = { format: formatOf(maker), index }
  if (redactedContent !== undefined) return { type: 'reasoning.encrypted', ...about, data: redactedContent }
  const { text = '', signature } = reasoningText ?? {}
  return { type: 'reasoning.text', ...about, text, ...(signature && { signature }) }
}

/** The block as it came from the model; undefined for what it did not sign. */
export function blockOf(detail: ReasoningDetail, maker: string): Block | undefined {
  if (detail.format !== undefined && detail.format !== formatOf(maker)) return undefined
  if (detail.type === 'reasoning.encrypted' && detail.data !== undefined)
    return { reasoningContent: { redactedContent: detail.data } }
  if (detail.type !== 'reasoning.text' || !detail.signature) return undefined
  return { reasoningContent: { reasoningText: { text: detail.text ?? '', signature: detail.signature } } }
}
