import { claudeReasoning, markedSignature, type ReasoningDetail, signatureIn } from '#provider'
import type { Block, Reasoning } from './wire.ts'

const ofOthers = 'amazon-bedrock-v1'

export const formatOf = (maker: string): string => (maker === 'anthropic' ? claudeReasoning : ofOthers)

export function detailOf(
  { reasoningText, redactedContent }: Reasoning,
  index: number,
  maker: string,
): ReasoningDetail {
  const format = formatOf(maker)
  const about = { format, index }
  if (redactedContent !== undefined) return { type: 'reasoning.encrypted', ...about, data: redactedContent }
  const { text = '', signature } = reasoningText ?? {}
  return {
    type: 'reasoning.text',
    ...about,
    text,
    ...(signature && { signature: markedSignature(format, signature) }),
  }
}

/** The block as it came from the model; undefined for what it did not sign. */
export function blockOf(detail: ReasoningDetail, maker: string): Block | undefined {
  const format = formatOf(maker)
  const isOurs = detail.format === undefined || detail.format === format
  if (detail.type === 'reasoning.encrypted' && detail.data !== undefined && isOurs)
    return { reasoningContent: { redactedContent: detail.data } }
  const signature = signatureIn(detail, format)
  if (detail.type !== 'reasoning.text' || signature === undefined) return undefined
  return { reasoningContent: { reasoningText: { text: detail.text ?? '', signature } } }
}
