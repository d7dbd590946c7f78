import type { ChatBody } from './schema.ts'

/** Who may speak after whom. */
const after: Readonly<Record<string, readonly string[]>> = {
  system: ['system', 'user', 'assistant'],
  user: ['system', 'user', 'assistant'],
  assistant: ['system', 'user', 'assistant', 'tool'],
  tool: ['tool', 'assistant'],
}

/** What is wrong with the order of messages that are each right by themselves; undefined when nothing is. */
export function orderError({ messages, tools, response_format: format }: ChatBody): string | undefined {
  if (tools?.length && format && format.type !== 'text') return 'Cannot use json response type with tools'
  let open: string[] = []
  for (const [i, message] of messages.entries()) {
    const before = messages[i - 1]?.role
    if (before && !after[before]!.includes(message.role)) {
      return `Unexpected role '${message.role}' after role '${before}'`
    }
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id)) return 'Unexpected tool call id in tool results'
      open = open.filter((id) => id !== message.tool_call_id)
    } else {
      if (open.length > 0) return 'Not the same number of function calls and responses'
      open = message.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : []
    }
  }
  const last = messages.at(-1)!.role
  if (last === 'user' || last === 'tool') return undefined
  return `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${last}`
}
