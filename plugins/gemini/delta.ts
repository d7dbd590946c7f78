import type { Delta } from '#kernel'
import { callId, madeId } from './call-id.ts'
import type { Part } from './wire.ts'

/** What of an answer makes ids of its calls. */
export interface Origin {
  /** The answer's id: the provider's, or the call's. */
  readonly answer: string
  readonly candidate: number
  readonly signaturesInIds: boolean
}

/** What a part adds to a message; `calls` is how many calls were before it. Undefined for a part that adds nothing. */
export function deltaOf(part: Part, calls: number, origin: Origin): Delta | undefined {
  if (part.functionCall) {
    const { id, name, args = {} } = part.functionCall
    const signature = part.thoughtSignature
    const own = id || madeId(origin.answer, origin.candidate, calls)
    const call = {
      index: calls,
      id: callId(own, origin.signaturesInIds ? signature : undefined),
      type: 'function' as const,
      function: { name, arguments: JSON.stringify(args) },
      ...(signature !== undefined && extraOf(signature)),
    }
    return { tool_calls: [call] }
  }
  if (part.text) return part.thought ? { reasoning_content: part.text } : { content: part.text }
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
