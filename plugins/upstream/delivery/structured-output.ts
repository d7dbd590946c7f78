import type { Call, ContentPart, Message, Protocol, ResponseFormat, StructuredOutput, Target } from '#kernel'
import { Changes } from '../kit/changes.ts'

/** A call as a target can be asked for the form of its answer. */
export interface Formed {
  readonly call: Call
  /** Undefined when the call asks for no form. */
  readonly structuredOutput: StructuredOutput | undefined
}

/**
 * Puts the form of an answer into words where the request to the target has no other way to carry it, and reports to the caller
 * every way except the service's own. `listed` is the support of the model that is known beforehand.
 */
export function formed(
  call: Call,
  target: Target,
  protocol: Protocol,
  listed: () => boolean | undefined,
): Formed {
  const { response_format: format } = call.request
  if (format?.type !== 'json_schema' && format?.type !== 'json_object')
    return { call, structuredOutput: undefined }
  const way = protocol.structuredOutput
    ? protocol.structuredOutput(call, target, listed())
    : usual(format, listed)
  if (way !== 'native') new Changes(call).add(`response_format:${format.type}->${way}`)
  return { call: way === 'instruction' ? inWords(call, format) : call, structuredOutput: way }
}

const usual = ({ type }: ResponseFormat, listed: () => boolean | undefined): StructuredOutput =>
  type === 'json_object' || listed() ? 'native' : 'instruction'

/** At the end of what the instructions are already: not all services take a second message of them, or one later on. */
function inWords(call: Call, format: ResponseFormat): Call {
  const [first, ...rest] = call.request.messages ?? []
  const words = wordsFor(format, (call.request.tools ?? []).length > 0)
  const messages: Message[] =
    first?.role === 'system' || first?.role === 'developer'
      ? [{ ...first, content: continued(first.content, words) }, ...rest]
      : [{ role: 'system', content: words }, ...(first ? [first, ...rest] : [])]
  return call.withRequest({ messages, response_format: undefined })
}

function continued(content: Message['content'], words: string): string | readonly ContentPart[] {
  if (typeof content === 'string') return content === '' ? words : `${content}\n\n${words}`
  return [...(content ?? []), { type: 'text', text: words }]
}

function wordsFor({ json_schema: { schema } = {} }: ResponseFormat, beside: boolean): string {
  const answer = beside ? 'When you call no tool, answer' : 'Answer'
  const alone = 'and nothing else: no prose, no code fence.'
  if (!schema) return `${answer} with one JSON object ${alone}`
  return `${answer} with one JSON value ${alone} It must fit this JSON Schema:\n${JSON.stringify(schema)}`
}
