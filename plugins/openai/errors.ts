import type { Target, UpstreamError, UpstreamHead } from '#kernel'
import { upstreamFailure } from '#provider'

/** An error as OpenAI writes it; its likes leave out what they like. */
export interface WireError {
  readonly message?: unknown
  readonly type?: unknown
  readonly code?: unknown
  readonly param?: unknown
}

/** The caller's error for a provider's error answer: the caller's own mistakes keep their status, the provider's are 502. */
export function upstreamError(
  { status, headers }: UpstreamHead,
  body: Buffer,
  target: Target,
): UpstreamError {
  const error = wireError(body)
  const { type, param } = error
  return upstreamFailure({ status, headers, ...wordsOf(error), type: text(type), param: text(param) }, target)
}

/** The message of an error, and the provider's code for it. */
export function wordsOf(error: WireError | string): { readonly message?: string; readonly native?: string } {
  if (typeof error === 'string') return { message: error }
  const message = text(error.message) ?? detailIn(error.message)
  const native = text(error.code) ?? text(error.type)
  return { ...(message !== undefined && { message }), ...(native !== undefined && { native }) }
}

/** OpenAI nests the error, others send it bare, as a list, or as text. */
function wireError(body: Buffer): WireError {
  try {
    const parsed = JSON.parse(body.toString('utf8')) as unknown
    const first = Array.isArray(parsed) ? parsed[0] : parsed
    if (typeof first !== 'object' || first === null) return { message: first }
    const { error = first } = first as { error?: unknown }
    return typeof error === 'object' && error !== null ? error : { message: error }
  } catch {
    return {}
  }
}

/** The problems field by field, as some providers give them in the place of a message. */
const detailIn = (message: unknown): string | undefined =>
  typeof message === 'object' && message !== null ? JSON.stringify(message) : undefined

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
