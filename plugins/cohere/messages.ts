import { badRequest, type ContentPart, type Message, type ToolCall } from '#kernel'
import type { Changes } from './changes.ts'

type Fields = Readonly<Record<string, unknown>>

/** The messages as Cohere takes them. What cannot be carried is refused by its name. */
export function messagesOf(messages: readonly Message[], changes: Changes): object[] {
  return messages.flatMap((message, i) => {
    const at = `messages[${i}]`
    if (message.name !== undefined) changes.add('-messages.name')
    switch (message.role) {
      case 'developer':
        changes.add('role:developer->system')
        return [{ role: 'system', content: contentOf(message.content, ['text'], at) }]
      case 'system':
        return [{ role: 'system', content: contentOf(message.content, ['text'], at) }]
      case 'user':
        return [{ role: 'user', content: contentOf(message.content, ['text', 'image_url'], at) }]
      case 'tool':
        return [toolMessage(message, at)]
      case 'assistant':
        return assistantMessage(message, at, changes)
      default: {
        const param = `${at}.role`
        throw badRequest(`${param}: Cohere knows no ${message.role} messages; use tools and tool messages.`, {
          param,
        })
      }
    }
  })
}

function contentOf(
  content: Message['content'],
  types: readonly string[],
  at: string,
): string | readonly ContentPart[] {
  if (content === undefined || content === null) return ''
  if (typeof content === 'string') return content
  for (const [i, { type }] of content.entries()) {
    if (types.includes(type)) continue
    const param = `${at}.content[${i}].type`
    throw badRequest(`${param}: Cohere takes no content of the type ${type} here.`, { param })
  }
  return content.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: (part as Fields).text }
      : { type: part.type, image_url: (part as Fields).image_url },
  )
}

/** A result may consist of documents, which answers can cite. */
function toolMessage({ content, tool_call_id }: Message, at: string): object {
  const param = `${at}.tool_call_id`
  if (tool_call_id === undefined) throw badRequest(`${param}: is missing.`, { param })
  const isDocuments = Array.isArray(content) && content.some(({ type }) => type === 'document')
  return { role: 'tool', tool_call_id, content: isDocuments ? content : contentOf(content, ['text'], at) }
}

/** A message that calls tools says what it says as its plan. */
function assistantMessage(message: Message, at: string, changes: Changes): object[] {
  const { tool_calls = [], tool_plan, reasoning_content, citations } = message
  if (message.function_call) {
    const param = `${at}.function_call`
    throw badRequest(`${param}: use tool_calls.`, { param })
  }
  for (const field of ['audio', 'reasoning_details'] as const) {
    if (message[field] !== undefined && message[field] !== null) changes.add(`-messages.${field}`)
  }
  const text = textOf(message, at)
  const said = [reasoning_content, text].filter((part) => part).join('\n')
  if (tool_calls.length > 0) {
    const plan = typeof tool_plan === 'string' && tool_plan !== '' ? tool_plan : said
    return [
      {
        role: 'assistant',
        ...(plan !== '' && { tool_plan: plan }),
        tool_calls: tool_calls.map((call, i) => callOf(call, `${at}.tool_calls[${i}]`)),
      },
    ]
  }
  if (said === '') return []
  const content = reasoning_content
    ? [{ type: 'thinking', thinking: reasoning_content }, ...(text === '' ? [] : [{ type: 'text', text }])]
    : text
  return [{ role: 'assistant', content, ...(Array.isArray(citations) && { citations }) }]
}

function textOf({ content, refusal }: Message, at: string): string {
  if (content === undefined || content === null) return refusal ?? ''
  if (typeof content === 'string') return content
  return content
    .map((part, i) => {
      if (part.type === 'text') return String((part as Fields).text)
      if (part.type === 'refusal') return String((part as Fields).refusal)
      const param = `${at}.content[${i}].type`
      throw badRequest(`${param}: Cohere takes no content of the type ${part.type} here.`, { param })
    })
    .join('')
}

function callOf({ id, type, function: fn }: ToolCall, at: string): object {
  if (type !== 'function' || fn === undefined) {
    throw badRequest(`${at}.type: Cohere knows calls of functions only.`, { param: `${at}.type` })
  }
  return { id, type, function: { name: fn.name, arguments: fn.arguments || '{}' } }
}
