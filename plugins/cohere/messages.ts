import { badRequest, type ContentPart, type Message, type ToolCall } from '#kernel'
import { type Changes, mergedDetails, quoted, type ReasoningDetail } from '#provider'

type Fields = Readonly<Record<string, unknown>>

/**
 * The messages as Cohere takes them. A part that it cannot carry is refused by its name. Only users can show pictures: those in
 * results of tools follow in a message of the user.
 */
export function messagesOf(messages: readonly Message[], changes: Changes): object[] {
  const carried: object[] = []
  let shown: ContentPart[] = []
  const show = (): void => {
    if (shown.length > 0) carried.push({ role: 'user', content: shown })
    shown = []
  }
  const said = messagesFrom(changes, (pictures) => shown.push(...pictures))
  for (const [i, message] of messages.entries()) {
    if (message.role === 'user' || message.role === 'assistant') show()
    carried.push(...said(message, `messages[${i}]`))
  }
  show()
  return carried
}

function messagesFrom(
  changes: Changes,
  show: (pictures: readonly ContentPart[]) => void,
): (message: Message, at: string) => object[] {
  return (message, at) => {
    if (message.name !== undefined) changes.add('-messages.name')
    switch (message.role) {
      case 'developer':
        changes.add('role:developer->system')
        return [{ role: 'system', content: contentOf(message.content, ['text'], at, changes) }]
      case 'system':
        return [{ role: 'system', content: contentOf(message.content, ['text'], at, changes) }]
      case 'user':
        return [{ role: 'user', content: contentOf(message.content, ['text', 'image_url'], at, changes) }]
      case 'tool':
        return [toolMessage(message, at, changes, show)]
      case 'assistant':
        return assistantMessage(message, at, changes)
      default: {
        const param = `${at}.role`
        throw badRequest(
          `${param}: Cohere does not support ${message.role} messages; use tools and tool messages.`,
          {
            param,
          },
        )
      }
    }
  }
}

function contentOf(
  content: Message['content'],
  types: readonly string[],
  at: string,
  changes: Changes,
): string | readonly ContentPart[] {
  const known = quoted(content, (change) => changes.add(change)) ?? ''
  if (typeof known === 'string') return known
  for (const [i, { type }] of known.entries()) {
    if (types.includes(type)) continue
    const param = `${at}.content[${i}].type`
    throw badRequest(`${param}: Cohere does not support content of the type ${type} here.`, { param })
  }
  return known.map((part) =>
    part.type === 'text'
      ? { type: 'text', text: (part as Fields).text }
      : { type: part.type, image_url: (part as Fields).image_url },
  )
}

/** A result may consist of documents, which answers can cite. */
function toolMessage(
  message: Message,
  at: string,
  changes: Changes,
  show: (pictures: readonly ContentPart[]) => void,
): object {
  const { content, tool_call_id, is_error, cache_control } = message
  const param = `${at}.tool_call_id`
  if (tool_call_id === undefined) throw badRequest(`${param}: is missing.`, { param })
  if (is_error === true) changes.add('-messages.is_error')
  if (cache_control !== undefined) changes.add('-cache_control')
  const isDocuments = Array.isArray(content) && content.some(isCohereDocument)
  if (isDocuments) return { role: 'tool', tool_call_id, content }
  const parts = contentOf(content, ['text', 'image_url'], at, changes)
  if (typeof parts === 'string') return { role: 'tool', tool_call_id, content: parts }
  show(parts.filter(({ type }) => type !== 'text'))
  const texts = parts.filter(({ type }) => type === 'text')
  return { role: 'tool', tool_call_id, content: texts.length > 0 ? texts : '' }
}

/** Anthropic's documents have a source instead. */
const isCohereDocument = (part: ContentPart): boolean =>
  part.type === 'document' && (part as Fields).document !== undefined

/** Fields of an assistant's message that have no place there. */
const lost = ['audio', 'annotations', 'extra_content', 'vendor_blocks'] as const

/** A message that calls tools says what it says as its plan. */
function assistantMessage(message: Message, at: string, changes: Changes): object[] {
  const { tool_plan, citations } = message
  const tool_calls = message.tool_calls ?? []
  const details = mergedDetails(message.reasoning_details)
  const thoughts = message.reasoning_content ?? message.reasoning ?? bareTextOf(details)
  const reasoning_content = typeof thoughts === 'string' ? thoughts : ''
  if (details.some(isSealed)) changes.add('-messages.reasoning_details')
  if (message.function_call) {
    const param = `${at}.function_call`
    throw badRequest(`${param}: use tool_calls.`, { param })
  }
  changes.lose(message, lost, ['extra', 'extra_content'])
  const text = textOf(message, at, changes)
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

/** Only the model that sealed its thoughts understands them. */
const isSealed = ({ signature, data }: ReasoningDetail): boolean => Boolean(signature || data)

const bareTextOf = (details: readonly ReasoningDetail[]): string =>
  details
    .filter((detail) => !isSealed(detail))
    .map(({ text }) => text ?? '')
    .join('\n\n')

function textOf({ content, refusal }: Message, at: string, changes: Changes): string {
  const known = quoted(content, (change) => changes.add(change)) ?? refusal ?? ''
  if (typeof known === 'string') return known
  return known
    .map((part, i) => {
      if (part.type === 'text') return String((part as Fields).text)
      if (part.type === 'refusal') return String((part as Fields).refusal)
      const param = `${at}.content[${i}].type`
      throw badRequest(`${param}: Cohere does not support content of the type ${part.type} here.`, { param })
    })
    .join('')
}

function callOf({ id, type, function: fn }: ToolCall, at: string): object {
  if (type !== 'function' || fn === undefined) {
    throw badRequest(`${at}.type: Cohere supports only function calls.`, { param: `${at}.type` })
  }
  return { id, type, function: { name: fn.name, arguments: fn.arguments || '{}' } }
}
