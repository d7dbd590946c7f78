/**
 * State that other models want back unchanged, in the one place that this wire has for it: the signature of a part. Clients
 * send it back with the part. It is opaque, not secret.
 */
export interface State {
  /** A detail of reasoning without its text, or with the text where the client did not ask to see it. */
  readonly detail?: object
  /** The state of a call. */
  readonly extra?: unknown
  /** A block that only its provider knows. */
  readonly vendor?: object
}

const mark = 'switchyard:'

export const sealed = (state: State): string => Buffer.from(mark + JSON.stringify(state)).toString('base64')

/** What was sealed; undefined for a signature of Gemini's own. Some libraries write base64 in its other alphabet. */
export function opened(signature: string): State | undefined {
  const text = Buffer.from(signature, 'base64').toString('utf8')
  if (!text.startsWith(mark)) return undefined
  try {
    const state: unknown = JSON.parse(text.slice(mark.length))
    return typeof state === 'object' && state !== null ? state : undefined
  } catch {
    return undefined
  }
}
