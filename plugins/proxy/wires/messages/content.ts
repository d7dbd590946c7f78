import type { ContentPart, Message, ToolCall } from '#kernel'
import { detailOf, isThinking } from './reasoning.ts'
import type { Block, MessagesBody } from './schema.ts'

type Incoming = MessagesBody['messages'][number]
type Fields = Readonly<Record<string, unknown>>

/** One message of the wire as canonical ones: each tool's result becomes a message of its own. */
export function messagesOf({ role, content }: Incoming): Message[] {
  if (typeof content === 'string') return [{ role, content }]
  const blocks = content as readonly Block[]
  if (role === 'assistant') return [assistantOf(blocks)]
  const results = blocks.filter(({ type }) => type === 'tool_result').map(resultOf)
  const parts = blocks.filter(({ type }) => type !== 'tool_result').map(partOf)
  return parts.length > 0 || results.length === 0 ? [...results, { role, content: parts }] : results
}

function resultOf({ type: _, tool_use_id, content, ...own }: Block): Message {
  const parts = Array.isArray(content) ? (content as Block[]).map(partOf) : ((content as string | null) ?? '')
  return { role: 'tool', tool_call_id: tool_use_id as string, content: parts, ...own }
}

/** `index` on reasoning and on tool calls says where among the blocks they stood. */
function assistantOf(blocks: readonly Block[]): Message {
  const isPart = ({ type }: Block): boolean => type !== 'tool_use' && !isThinking(type)
  const lastPart = blocks.findLastIndex(isPart)
  const parts = blocks.filter(isPart).map(partOf)
  const details = blocks.flatMap((block, i) => (isThinking(block.type) ? [detailOf(block, i)] : []))
  const calls = blocks.flatMap((block, i) =>
    block.type === 'tool_use' ? [callOf(block, i < lastPart ? i : undefined)] : [],
  )
  return {
    role: 'assistant',
    content: parts.length > 0 ? parts : null,
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function callOf({ type: _, id, name, input, ...own }: Block, index: number | undefined): ToolCall {
  return {
    id: id as string,
    type: 'function',
    function: { name: name as string, arguments: JSON.stringify(input ?? {}) },
    ...(Object.keys(own).length > 0 && { extra: { anthropic: own } }),
    ...(index !== undefined && { index }),
  }
}

/** A block as a part: in OpenAI's shape where there is one, else as it came. */
function partOf(block: Block): ContentPart {
  const { type, source, ...own } = block as Block & { source?: Fields }
  if (type === 'image' && source) {
    const url = urlOf(source)
    if (url !== undefined) return { type: 'image_url', image_url: { url }, ...own }
  }
  if (type === 'document' && source?.type === 'base64') {
    const { title, ...rest } = own
    const file = { ...(typeof title === 'string' && { filename: title }), file_data: urlOf(source) }
    return { type: 'file', file, ...rest }
  }
  if (type === 'document' && source?.type === 'text') {
    // Under its own name, `data`, the text would pass for bytes, and modules would not look at it.
    const { data, ...rest } = source
    return { type, source: { ...rest, text: data }, ...own }
  }
  return block
}

function urlOf({ type, media_type, data, url }: Fields): string | undefined {
  if (type === 'base64') return `data:${String(media_type)};base64,${String(data)}`
  return type === 'url' ? (url as string) : undefined
}
