import type { ChoiceDelta, Completion, CompletionChunk, Message, ModelRequest } from '#kernel'

type Rename = (name: string) => string
type Fields = Readonly<Record<string, unknown>>

/** What names a tool stands under its kind. */
const kinds = ['function', 'custom'] as const

/** Tells each name of a tool that a request offers or says was called, as often as it stands there. */
export function eachToolName(
  { tools, functions, messages }: ModelRequest,
  tell: (name: string) => void,
): void {
  if (tools) for (const tool of tools) tellIn(tool, tell)
  if (Array.isArray(functions)) for (const fn of functions as unknown[]) tellName(fn, tell)
  if (!messages) return
  for (const { tool_calls, function_call } of messages) {
    if (tool_calls) for (const call of tool_calls) tellIn(call, tell)
    if (function_call) tellName(function_call, tell)
  }
}

/** Written out, for every call with tools comes by here. */
function tellIn(
  tool: { readonly function?: unknown; readonly custom?: unknown },
  tell: (name: string) => void,
): void {
  if (tool.function) tellName(tool.function, tell)
  else if (tool.custom) tellName(tool.custom, tell)
}

function tellName(named: unknown, tell: (name: string) => void): void {
  const name = (named as Fields | null | undefined)?.name
  if (typeof name === 'string') tell(name)
}

/** A request in which every tool has the name that `rename` gives it: where it is offered, chosen, called, answered. */
export function withToolNames(request: ModelRequest, rename: Rename): ModelRequest {
  const { tools, tool_choice: choice, functions, function_call, messages } = request
  return {
    ...request,
    ...(tools && { tools: tools.map((tool) => toolWith(tool, rename)) }),
    ...(isObject(choice) && { tool_choice: choiceWith(choice, rename) }),
    ...(Array.isArray(functions) && { functions: functions.map((fn: unknown) => named(fn, rename)) }),
    ...(isObject(function_call) && { function_call: named(function_call, rename) }),
    ...(messages && { messages: messages.map((message) => messageWith(message, rename)) }),
  }
}

/** An answer, or a chunk of one, likewise: itself where no name in it changes. */
export function repliedWithToolNames<B extends Completion | CompletionChunk>(body: B, rename: Rename): B {
  if (!Array.isArray(body.choices)) return body
  const choices = mapped(body.choices as readonly ChoiceDelta[], (choice) => {
    let renamed: Fields = choice
    for (const field of ['message', 'delta']) {
      const said = choice[field]
      if (!isObject(said)) continue
      const other = messageWith(said as unknown as Message, rename)
      if (other !== said) renamed = { ...renamed, [field]: other }
    }
    return renamed as unknown as ChoiceDelta
  })
  return choices === body.choices ? body : { ...body, choices }
}

function messageWith(message: Message, rename: Rename): Message {
  const { role, name, tool_calls, function_call } = message
  const calls = Array.isArray(tool_calls) ? mapped(tool_calls, (call) => toolWith(call, rename)) : tool_calls
  const called = named(function_call, rename)
  const answered = (role === 'tool' || role === 'function') && typeof name === 'string' ? rename(name) : name
  if (calls === tool_calls && called === function_call && answered === name) return message
  return {
    ...message,
    ...(calls && { tool_calls: calls }),
    ...(isObject(called) && { function_call: called }),
    ...(answered !== undefined && { name: answered }),
  }
}

function choiceWith(choice: Fields, rename: Rename): Fields {
  const { allowed_tools: allowed } = choice
  if (!isObject(allowed) || !Array.isArray(allowed.tools)) return toolWith(choice, rename)
  const tools = allowed.tools.map((tool: unknown) => (isObject(tool) ? toolWith(tool, rename) : tool))
  return { ...choice, allowed_tools: { ...allowed, tools } }
}

function toolWith<T extends object>(tool: T, rename: Rename): T {
  for (const kind of kinds) {
    const own = (tool as Fields)[kind]
    if (!own) continue
    const other = named(own, rename)
    return other === own ? tool : { ...tool, [kind]: other }
  }
  return tool
}

function named(value: unknown, rename: Rename): unknown {
  if (!isObject(value) || typeof value.name !== 'string') return value
  const name = rename(value.name)
  return name === value.name ? value : { ...value, name }
}

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** A list whose items are what `change` makes of them: the same list where all stay as they are. */
function mapped<T>(list: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = list.map(change)
  return changed.some((item, i) => item !== list[i]) ? changed : list
}
