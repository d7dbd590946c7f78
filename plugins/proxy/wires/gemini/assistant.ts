import type { Message, ToolCall } from '#kernel'
import type { ReasoningDetail } from '#provider'
import type { CallIds } from './calls.ts'
import type { Lose } from './contents.ts'
import { codeText } from './media.ts'
import type { Part } from './schema.ts'
import { opened, type State } from './state.ts'

/** A run of parts that are one block: neighbouring pieces of text, or of thoughts, up to their signature. */
interface Block {
  readonly kind: 'text' | 'thought' | 'call'
  text: string
  state: State | undefined
  readonly call: ToolCall | undefined
}

/** A turn of the model's. `index` on thoughts and on calls says where among the blocks they stood. */
export function assistantOf(parts: readonly Part[], place: string, ids: CallIds, lose: Lose): Message {
  const signatures: string[] = []
  const blocks = blocksOf(parts, place, ids, signatures, lose)
  const lastText = blocks.findLastIndex(({ kind }) => kind === 'text')
  const texts = blocks.flatMap(({ kind, text }) => (kind === 'text' && text !== '' ? [text] : []))
  const details = blocks.flatMap((block, i) => (block.kind === 'thought' ? detailOf(block, i) : []))
  const vendor = blocks.flatMap(({ state }, index) => (state?.vendor ? [{ index, ...state.vendor }] : []))
  const calls = blocks.flatMap(({ call }, i) =>
    call ? [i < lastText ? ({ ...call, index: i } as ToolCall) : call] : [],
  )
  if (signatures.length > 1) lose('contents.parts.thoughtSignature')
  const signature = signatures.at(-1)
  return {
    role: 'assistant',
    content: texts.length > 1 ? texts.map((text) => ({ type: 'text', text })) : (texts[0] ?? null),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(vendor.length > 0 && { vendor_blocks: vendor }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(signature !== undefined && { extra_content: { google: { thought_signature: signature } } }),
  }
}

function blocksOf(
  parts: readonly Part[],
  place: string,
  ids: CallIds,
  signatures: string[],
  lose: Lose,
): Block[] {
  const blocks: Block[] = []
  for (const [n, part] of parts.entries()) {
    const { functionCall: fn, thoughtSignature: signature } = part
    const state = signature ? opened(signature) : undefined
    if (fn) {
      const id = ids.called(fn.id, fn.name, `${place} ${n}`)
      blocks.push({ kind: 'call', text: '', state: undefined, call: callOf(fn, id, signature, state) })
      continue
    }
    if (part.inlineData || part.fileData) lose('contents.parts.inlineData')
    if (signature && !state) signatures.push(signature)
    const isCode = part.executableCode ?? part.codeExecutionResult
    const text = isCode ? codeText(part) : (part.text ?? '')
    const kind = part.thought ? 'thought' : 'text'
    const last = blocks.at(-1)
    if (text === '' && !state) continue
    if (last?.kind === kind && !last.state && !state?.vendor) {
      last.text += text
      last.state = state
    } else blocks.push({ kind, text, state, call: undefined })
  }
  return blocks
}

function callOf(
  { name, args }: NonNullable<Part['functionCall']>,
  id: string,
  signature: string | null | undefined,
  state: State | undefined,
): ToolCall {
  return {
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
    ...(state?.extra !== undefined && { extra: state.extra }),
    ...(signature && !state && { extra_content: { google: { thought_signature: signature } } }),
  }
}

/** Fields of a detail that a provider may have given. */
const fields = ['type', 'format', 'signature', 'data', 'id', 'summary', 'text'] as const

function detailOf({ text, state }: Block, index: number): ReasoningDetail[] {
  if (state?.vendor) return []
  const kept = (state?.detail ?? {}) as Readonly<Record<string, unknown>>
  const own: Record<string, unknown> = { type: 'reasoning.text' }
  for (const field of fields) if (typeof kept[field] === 'string') own[field] = kept[field]
  if (text !== '' || own.type === 'reasoning.text') own.text = text || (own.text ?? '')
  return [{ ...own, index } as ReasoningDetail]
}
