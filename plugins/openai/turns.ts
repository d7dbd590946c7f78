import { badRequest, type ContentPart, type Message, type ModelRequest, type ToolCall } from '#kernel'

type Fields = Readonly<Record<string, unknown>>
type Report = (change: string) => void

/** Fields of an assistant's message that every provider of this protocol knows. */
const known = new Set(['role', 'content', 'refusal', 'name', 'tool_calls'])

/**
 * The conversation of a Responses client as this protocol can carry it. Such a client sends back the state that any provider
 * once gave it; a provider gets the part of that state that it `wants`. State that is left out is reported.
 */
export function withTurns(request: ModelRequest, wants: readonly string[], report: Report): ModelRequest {
  const carried: Message[] = []
  let shown: ContentPart[] = []
  const show = (): void => {
    if (shown.length > 0) carried.push({ role: 'user', content: shown })
    shown = []
  }
  for (const [i, message] of (request.messages ?? []).entries()) {
    if (message.role !== 'tool') show()
    refuseAddresses(message, `messages.${i}`)
    if (message.role === 'assistant') carried.push(assistantOf(message, wants, report))
    else if (message.role === 'tool' && typeof message.content === 'object') {
      const parts = message.content ?? []
      const text = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n\n')
      carried.push({ ...message, content: text })
      // Only users can show pictures here.
      shown.push(...parts.filter(({ type }) => type !== 'text'))
    } else carried.push(message)
  }
  show()
  return { ...request, messages: carried }
}

function assistantOf(message: Message, wants: readonly string[], report: Report): Message {
  const carried: Record<string, unknown> = {}
  for (const field in message) {
    if (known.has(field) || wants.includes(field)) carried[field] = message[field]
    else report(`-messages.${field}`)
  }
  if (message.tool_calls)
    carried.tool_calls = message.tool_calls.map((call) => callOf(call as ToolCall & Fields, report))
  return carried as unknown as Message
}

function callOf({ id, type, ...own }: ToolCall & Fields, report: Report): Fields {
  const name = String(type)
  for (const field in own) if (field !== name) report(`-messages.tool_calls.${field}`)
  return { id, type, [name]: own[name] }
}

function refuseAddresses({ content }: Message, at: string): void {
  if (typeof content !== 'object' || content === null) return
  for (const { type, file } of content as readonly (ContentPart & { file?: Fields })[]) {
    if (type === 'file' && file?.file_url !== undefined && file.file_data === undefined)
      throw badRequest('This provider cannot fetch a file from a URL; send the file itself.', {
        param: at,
      })
  }
}
