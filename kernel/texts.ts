import type { Choice, Completion, ContentPart, Message, ModelRequest, ToolCall } from './canonical.ts'
import type { Place } from './detect.ts'

type Change = (text: string, place: Place) => string

/** The request with every text passed through `change`; the same object when nothing changed. */
export function mapRequestTexts(request: ModelRequest, change: Change): ModelRequest {
  const messages =
    request.messages && mapArray(request.messages, (message) => mapMessage(message, 'request', change))
  const place: Place = { direction: 'request', role: 'user', kind: 'content' }
  const prompt = mapInput(request.prompt, place, change)
  const input = mapInput(request.input, place, change)
  if (messages === request.messages && prompt === request.prompt && input === request.input) return request
  return {
    ...request,
    ...(messages && { messages }),
    ...(prompt !== undefined && { prompt }),
    ...(input !== undefined && { input }),
  }
}

/** The answer with every text passed through `change`; the same object when nothing changed. */
export function mapReplyTexts(body: Completion, change: Change): Completion {
  if (!body.choices) return body
  const choices = mapArray(body.choices, (choice) => mapChoice(choice, change))
  return choices === body.choices ? body : { ...body, choices }
}

/** Every text of a request, for who only reads. */
export function requestTexts(request: ModelRequest): { text: string; place: Place }[] {
  const texts: { text: string; place: Place }[] = []
  mapRequestTexts(request, (text, place) => {
    texts.push({ text, place })
    return text
  })
  return texts
}

function mapInput(input: ModelRequest['input'], place: Place, change: Change): ModelRequest['input'] {
  if (typeof input === 'string') return change(input, place)
  if (!Array.isArray(input) || typeof input[0] !== 'string') return input
  return mapArray(input as readonly string[], (text) =>
    typeof text === 'string' ? change(text, place) : text,
  )
}

function mapChoice(choice: Choice, change: Change): Choice {
  if (choice.text !== undefined) {
    const text = change(choice.text, { direction: 'reply', role: 'assistant', kind: 'content' })
    return text === choice.text ? choice : { ...choice, text }
  }
  if (!choice.message) return choice
  const message = mapMessage(choice.message, 'reply', change)
  return message === choice.message ? choice : { ...choice, message }
}

/** The fields of a message that hold plain text, and what kind of text. */
const textFields = [
  ['reasoning_content', 'reasoning'],
  ['reasoning', 'reasoning'],
  ['refusal', 'refusal'],
] as const

function mapMessage(message: Message, direction: Place['direction'], change: Change): Message {
  const role = message.role
  const changed: Record<string, unknown> = {}
  for (const [field, kind] of textFields) {
    const text = message[field]
    if (typeof text !== 'string') continue
    const next = change(text, { direction, role, kind })
    if (next !== text) changed[field] = next
  }
  const content = mapContent(message.content, { direction, role, kind: 'content' }, change)
  if (content !== message.content) changed.content = content
  const calls =
    message.tool_calls && mapArray(message.tool_calls, (call) => mapToolCall(call, direction, role, change))
  if (calls !== message.tool_calls) changed.tool_calls = calls
  for (const _ in changed) return { ...message, ...changed }
  return message
}

function mapContent(content: Message['content'], place: Place, change: Change): Message['content'] {
  if (typeof content === 'string') return change(content, place)
  if (!Array.isArray(content)) return content
  return mapArray(content as readonly ContentPart[], (part) => {
    const field = part.type === 'refusal' ? 'refusal' : 'text'
    const text = (part as Record<string, unknown>)[field]
    if (typeof text !== 'string') return part
    const next = change(text, place)
    return next === text ? part : { ...part, [field]: next }
  })
}

function mapToolCall(call: ToolCall, direction: Place['direction'], role: string, change: Change): ToolCall {
  const text = call.function?.arguments
  if (typeof text !== 'string') return call
  const next = change(text, { direction, role, kind: 'arguments' })
  return next === text ? call : { ...call, function: { ...call.function, arguments: next } }
}

/** `map` that gives back the same array when no element changed. */
function mapArray<T>(items: readonly T[], map: (item: T) => T): readonly T[] {
  let changed: T[] | undefined
  for (const [i, item] of items.entries()) {
    const next = map(item)
    if (next !== item) changed ??= items.slice(0, i)
    changed?.push(next)
  }
  return changed ?? items
}
