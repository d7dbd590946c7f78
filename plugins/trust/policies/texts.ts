import type { Completion, ModelRequest, TextLocation } from '#kernel'
import { jsonText, mapReplyTexts, mapRequestParameters, requestTexts } from '#kit'

/** A text and where it stands, as detectors read it. */
export interface PlacedText {
  readonly text: string
  readonly place: TextLocation
}

/** Every text of a request, those of its parameters included. */
export function textsOfRequest(request: ModelRequest): PlacedText[] {
  const texts = requestTexts(request)
  const place: TextLocation = { direction: 'request', role: 'user', kind: 'parameter' }
  mapRequestParameters(request, (text) => {
    texts.push({ text, place })
    return text
  })
  return texts.map(asRead)
}

/** Every text of an answer. */
export function textsOfReply(body: Completion): PlacedText[] {
  const texts: PlacedText[] = []
  mapReplyTexts(body, (text, place) => {
    texts.push({ text, place })
    return text
  })
  return texts.map(asRead)
}

/** The names of the tools that an answer calls. */
export function namesIn({ choices = [] }: Completion): string[] {
  return choices.flatMap(({ message }) => {
    const calls = (message?.tool_calls ?? []).flatMap(({ function: called }) => called?.name ?? [])
    const { name } = (message?.function_call ?? {}) as { readonly name?: unknown }
    return typeof name === 'string' ? [...calls, name] : calls
  })
}

const asRead = ({ text, place }: PlacedText): PlacedText =>
  place.kind === 'arguments' ? { text: jsonText(text), place } : { text, place }
