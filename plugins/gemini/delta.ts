import type { Delta } from '#kernel'
import { argumentsText } from '#provider'
import { callId, madeId } from './call-id.ts'
import { thoughtDetail } from './reasoning.ts'
import type { Part } from './wire.ts'

/** What of an answer makes ids of its calls, and places of its parts. */
export interface Origin {
  /** The answer's id: the provider's, or the call's. */
  readonly answer: string
  readonly candidate: number
  readonly signaturesInIds: boolean
  /** Which block of the answer the part is in. */
  readonly block: number
  /** Whether signatures and thoughts have a form that survives every wire. */
  readonly details: boolean
}

/** What a part adds to a message; `calls` is how many calls were before it. Undefined for a part that adds nothing. */
export function deltaOf(part: Part, calls: number, origin: Origin): Delta | undefined {
  if (part.functionCall) {
    const { id, name, args } = part.functionCall
    const signature = part.thoughtSignature
    const own = id || madeId(origin.answer, origin.candidate, calls)
    const call = {
      index: calls,
      id: callId(own, origin.signaturesInIds ? signature : undefined),
      type: 'function' as const,
      function: { name, arguments: argumentsText(args) },
      ...(signature !== undefined && extraOf(signature)),
    }
    return { tool_calls: [call] }
  }
  if (part.text && part.thought) {
    const details = origin.details && { reasoning_details: [thoughtDetail(origin.block, part.text)] }
    return { reasoning_content: part.text, ...details }
  }
  if (part.text) return { content: part.text }
  if (part.executableCode) {
    const { language = '', code = '' } = part.executableCode
    return { content: `\n\`\`\`${language.toLowerCase()}\n${code.trimEnd()}\n\`\`\`\n` }
  }
  if (part.codeExecutionResult?.output) {
    return { content: `\n\`\`\`\n${part.codeExecutionResult.output.trimEnd()}\n\`\`\`\n` }
  }
  if (part.inlineData) {
    const { mimeType, data } = part.inlineData
    return { images: [{ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }] }
  }
  return undefined
}

/** Where Google's own compatible endpoint has the signature. */
export const extraOf = (signature: string) => ({
  extra_content: { google: { thought_signature: signature } },
})
