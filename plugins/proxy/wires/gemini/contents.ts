import type { ContentPart, Message } from '#kernel'
import { assistantOf } from './assistant.ts'
import { CallIds } from './calls.ts'
import { codeText, filePart, inlinePart } from './media.ts'
import type { Content, Part } from './schema.ts'

/** Takes the name of a field that the canonical form has no place for. */
export type Lose = (field: string) => void

/** Fields of parts that have a place in the canonical form. */
const known: Readonly<Record<string, readonly string[]>> = {
  part: [
    ...['text', 'thought', 'thoughtSignature', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
    ...['executableCode', 'codeExecutionResult'],
  ],
  functionCall: ['id', 'name', 'args'],
  functionResponse: ['id', 'name', 'response', 'parts'],
}

/** The conversation: instructions first, the results of tools as messages of their own. */
export function messagesOf(
  contents: readonly Content[],
  system: Content | null | undefined,
  lose: Lose,
): Message[] {
  const messages: Message[] = []
  const text = (system?.parts ?? []).flatMap((part) => part.text || []).join('\n\n')
  if (text !== '') messages.push({ role: 'system', content: text })
  const ids = new CallIds()
  for (const [i, { role, parts }] of turnsOf(contents).entries()) {
    for (const part of parts) loseUnknown(part, lose)
    if (role === 'model') messages.push(assistantOf(parts, `${i}`, ids, lose))
    else messages.push(...userOf(parts, `${i}`, ids))
  }
  return messages
}

interface Turn {
  readonly role: 'user' | 'model'
  readonly parts: readonly Part[]
}

/** Several contents of a model in a row, as clients keep the events of a stream, are one turn. */
function turnsOf(contents: readonly Content[]): Turn[] {
  const turns: (Turn & { readonly parts: Part[] })[] = []
  for (const { role, parts } of contents) {
    const last = turns.at(-1)
    if (role !== 'model' || last?.role !== 'model')
      turns.push({ role: role === 'model' ? 'model' : 'user', parts: [...(parts ?? [])] })
    else for (const part of parts ?? []) last.parts.push(part)
  }
  return turns
}

function userOf(parts: readonly Part[], place: string, ids: CallIds): Message[] {
  const results = parts.flatMap(({ functionResponse: result }, n) =>
    result ? [resultOf(result, ids.answered(result.id, result.name, `result ${place} ${n}`))] : [],
  )
  const said = parts.flatMap(partOf)
  if (said.length === 0 && results.length > 0) return results
  const [only] = said
  const isText = said.length === 1 && only!.type === 'text'
  return [...results, { role: 'user', content: isText ? (only!.text as string) : said }]
}

export function partOf(part: Part): ContentPart[] {
  if (typeof part.text === 'string') return part.text === '' ? [] : [{ type: 'text', text: part.text }]
  if (part.inlineData) return [inlinePart(part.inlineData)]
  if (part.fileData) return [filePart(part.fileData)]
  return part.executableCode || part.codeExecutionResult ? [{ type: 'text', text: codeText(part) }] : []
}

function resultOf({ response, parts }: NonNullable<Part['functionResponse']>, id: string): Message {
  const { output, result = output, error, ...more } = response ?? {}
  const isAlone = Object.keys(more).length === 0
  const isFailed = isAlone && typeof error === 'string' && result === undefined
  const text = isFailed
    ? error
    : isAlone && typeof result === 'string' && error === undefined
      ? result
      : JSON.stringify(response ?? {})
  const shown = (parts ?? []).flatMap(partOf)
  return {
    role: 'tool',
    tool_call_id: id,
    content: shown.length > 0 ? [{ type: 'text', text }, ...shown] : text,
    ...(isFailed && { is_error: true }),
  }
}

function loseUnknown(part: Part, lose: Lose): void {
  const check = (value: object | null | undefined, kind: string, at: string): void => {
    for (const [field, own] of Object.entries(value ?? {}))
      if (own !== null && own !== undefined && !known[kind]!.includes(field)) lose(`${at}.${field}`)
  }
  check(part, 'part', 'contents.parts')
  check(part.functionCall, 'functionCall', 'contents.parts.functionCall')
  check(part.functionResponse, 'functionResponse', 'contents.parts.functionResponse')
}
