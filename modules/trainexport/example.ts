import type { Json, JsonObject, Message, ToolCall } from '#kernel'
import { messageTexts, parseForeign } from '#kit'

/** A call of a tool with its arguments taken apart. */
export interface ExampleCall {
  readonly id: string
  readonly name: string
  readonly input: JsonObject
}

/** A turn of a conversation as both forms need it: texts, calls of tools and their results. */
export type Turn =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ExampleCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string }

export interface ExampleTool {
  readonly name: string
  readonly description?: string
  readonly parameters: JsonObject
}

/** A conversation that ends with an answer to learn from. */
export interface Example {
  readonly turns: readonly Turn[]
  readonly tools: readonly ExampleTool[]
}

/** Names of tools that providers train with. The gateway lets clients call them otherwise. */
const toolName = /^[\w-]{1,64}$/

/**
 * The example of a call as it was stored; undefined for what a form cannot hold: images and other parts that are no text,
 * answers that were cut or refused, calls of tools without their results or with another kind of name, and tools that the
 * provider runs.
 */
export function exampleOf(request: unknown, response: unknown, withSystem: boolean): Example | undefined {
  const { messages, tools = [] } = asObject(request) as { messages?: unknown; tools?: unknown }
  const [choice] = (asObject(response).choices ?? []) as { message?: Message; finish_reason?: string }[]
  if (!Array.isArray(messages) || !choice?.message) return undefined
  if (choice.finish_reason !== 'stop' && choice.finish_reason !== 'tool_calls') return undefined
  const turns: Turn[] = []
  for (const message of [...(messages as Message[]), { ...choice.message, role: 'assistant' as const }]) {
    const turn = turnOf(message)
    if (!turn) return undefined
    if (turn.role !== 'system' || withSystem) turns.push(turn)
  }
  const known = toolsOf(tools)
  if (!known || !isWhole(turns, known)) return undefined
  return { turns, tools: known }
}

function turnOf(message: Message): Turn | undefined {
  if (!isText(message.content) || message.refusal) return undefined
  const text = messageTexts(message).join('\n')
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', text }
    case 'user':
      return { role: 'user', text }
    case 'tool':
      return { role: 'tool', id: message.tool_call_id ?? '', text }
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(callOf)
      return calls.includes(undefined)
        ? undefined
        : { role: 'assistant', text, calls: calls as ExampleCall[] }
    }
    default:
      return undefined
  }
}

const isText = (content: Message['content']): boolean =>
  typeof content === 'string' ||
  content == null ||
  content.every(({ type, text }) => type === 'text' && typeof text === 'string')

function callOf({ id, function: made }: ToolCall): ExampleCall | undefined {
  const input = parsed(made?.arguments === '' ? '{}' : made?.arguments)
  return isObject(input) && id && made.name ? { id, name: made.name, input } : undefined
}

/** Undefined where one is not a function of the caller's. */
function toolsOf(tools: unknown): ExampleTool[] | undefined {
  if (!Array.isArray(tools)) return undefined
  const known: ExampleTool[] = []
  for (const tool of tools) {
    const { type, function: made } = asObject(tool) as { type?: string; function?: Record<string, unknown> }
    if (type !== 'function' || !made) return undefined
    const { name, description, parameters = { type: 'object', properties: {} } } = made
    if (typeof name !== 'string' || !toolName.test(name) || !isObject(parameters)) return undefined
    known.push({ name, ...(typeof description === 'string' && { description }), parameters })
  }
  return known
}

/**
 * Whether the turns are a conversation: a user begins, every call of a tool has its result right behind it, nothing is empty,
 * the last turn is an answer, and every tool that is called is declared.
 */
function isWhole(all: readonly Turn[], tools: readonly ExampleTool[]): boolean {
  const turns = all.filter(({ role }) => role !== 'system')
  const names = new Set(tools.map(({ name }) => name))
  if (turns[0]?.role !== 'user' || turns.at(-1)?.role !== 'assistant') return false
  let open = new Set<string>()
  for (const turn of turns) {
    if (turn.role === 'tool') {
      if (!open.delete(turn.id)) return false
      continue
    }
    if (open.size > 0) return false
    if (turn.role !== 'assistant') {
      if (turn.text === '') return false
      continue
    }
    if (turn.text === '' && turn.calls.length === 0) return false
    if (turn.calls.some(({ name }) => !names.has(name))) return false
    open = new Set(turn.calls.map(({ id }) => id))
    if (open.size < turn.calls.length) return false
  }
  return true
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const asObject = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {})

/** Undefined for what is no JSON, or lies too deep. */
function parsed(text: unknown): Json | undefined {
  if (typeof text !== 'string') return undefined
  try {
    return parseForeign(text) as Json
  } catch {
    return undefined
  }
}
