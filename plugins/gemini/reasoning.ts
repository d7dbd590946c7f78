import type { Message } from '#kernel'
import { markedSignature, mergedDetails, type ReasoningDetail, signatureIn } from '#provider'

const format = 'google-gemini-v1'

/** A piece of a summary of thoughts, at its place among the blocks of the answer. */
export const thoughtDetail = (index: number, text: string): ReasoningDetail => ({
  type: 'reasoning.text',
  format,
  index,
  text,
})

/** The signature of a text; wires without a place for it on texts have one beside thoughts. */
export const signatureDetail = (index: number, signature: string): ReasoningDetail => ({
  type: 'reasoning.text',
  format,
  index,
  signature: markedSignature(format, signature),
})

/** The last signature of Gemini's among a message's details, and whether any of them is another provider's. */
export function signedIn({ reasoning_details: details }: Message): {
  readonly signature: string | undefined
  readonly isForeign: boolean
} {
  const all = mergedDetails(details)
  return {
    signature: all.map((detail) => signatureIn(detail, format)).findLast((found) => found !== undefined),
    isForeign: all.some(
      (detail) => (detail.signature ?? detail.data) && signatureIn(detail, format) === undefined,
    ),
  }
}
