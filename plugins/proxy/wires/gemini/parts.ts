import type { Delta, Message, ToolCall } from '#kernel'
import { objectIn, type ReasoningDetail, signatureIn } from '#provider'
import { sealed } from './state.ts'

/** A part of an answer, as clients get it. */
export type AnswerPart = Readonly<Record<string, unknown>>

const google = 'google-gemini-v1'

/** The part of a piece of reasoning; none for what there is nothing to see of and nothing to send back. */
export function thoughtPart(detail: ReasoningDetail, shows: boolean): AnswerPart[] {
  const { index: _, text = '', ...kept } = detail as ReasoningDetail & { readonly index?: number }
  const own = signatureIn(detail, google)
  // It stands with the text that it signs.
  if (detail.format === google && detail.signature && own !== undefined) return []
  const isKept = Boolean(kept.signature ?? kept.data)
  if (!isKept && (shows || text === '')) return text === '' ? [] : [thought(text)]
  const state = sealed({ detail: shows ? kept : { ...kept, text } })
  return [{ ...thought(shows ? text : ''), thoughtSignature: state }]
}

/** Unsigned thoughts. Those that the client did not ask for are only sent back to the model. */
export const bareThought = (text: string, shows: boolean): AnswerPart[] =>
  thoughtPart({ type: 'reasoning.text', text }, shows)

export const thought = (text: string): AnswerPart => ({ text, thought: true })

/** A block that only its provider knows, for it to have back. */
export function vendorPart({ index: _, ...block }: { readonly index?: number }): AnswerPart {
  return { ...thought(''), thoughtSignature: sealed({ vendor: block }) }
}

/** A call as a part; undefined for one whose arguments are no object, such as of an answer that was cut off. */
export function callPart({ id, function: fn, extra, ...own }: ToolCall): AnswerPart | undefined {
  const args = fn.arguments.trim() === '' ? {} : objectIn(fn.arguments)
  if (!args) return undefined
  const signature = signatureOf(own) ?? (extra === undefined ? undefined : sealed({ extra }))
  return {
    functionCall: { ...(id && { id }), name: fn.name, args },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

/** The signature that a text, or a call, was given. */
export function signatureOf(carrier: object): string | undefined {
  const { extra_content: extra } = carrier as {
    readonly extra_content?: { readonly google?: { readonly thought_signature?: unknown } } | null
  }
  const signature = extra?.google?.thought_signature
  return typeof signature === 'string' ? signature : undefined
}

const dataUrl = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s

/** Pictures that a model has made. */
export function imageParts({ images }: Message | Delta): AnswerPart[] {
  return listOf<{ image_url?: { url?: unknown } }>(images).flatMap(({ image_url: image }) => {
    const data = dataUrl.exec(String(image?.url ?? ''))
    return data ? [{ inlineData: { mimeType: data[1], data: data[2] } }] : []
  })
}

export const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : [])
