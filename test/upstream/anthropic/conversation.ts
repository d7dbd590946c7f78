import type { MessagesBody } from './schema.ts'

type Turn = MessagesBody['messages'][number]
type Block = Exclude<Turn['content'], string>[number]

/** What is wrong with a body whose fields are all right by themselves; undefined when nothing is. */
export function conversationError(body: MessagesBody): string | undefined {
  return rolesError(body.messages) ?? prefillError(body.messages) ?? toolsError(body) ?? optionsError(body)
}

function rolesError(turns: readonly Turn[]): string | undefined {
  if (turns[0]!.role !== 'user') return 'messages: first message must use the "user" role'
  for (const [i, { role }] of turns.entries())
    if (i > 0 && role === turns[i - 1]!.role)
      return `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`
  return undefined
}

function prefillError(turns: readonly Turn[]): string | undefined {
  const { role, content } = turns.at(-1)!
  const last =
    typeof content === 'string' ? { type: 'text', text: content } : (content as readonly Block[]).at(-1)
  return role === 'assistant' && last?.type === 'text' && /\s$/.test(String(last.text))
    ? 'messages: final assistant content cannot end with trailing whitespace'
    : undefined
}

function toolsError({ messages, tools }: MessagesBody): string | undefined {
  let open: string[] = []
  for (const [i, { role, content }] of messages.entries()) {
    const blocks = typeof content === 'string' ? [] : (content as readonly Block[])
    if (role === 'user') {
      const error = resultsError(blocks, open, i)
      if (error) return error
    }
    open =
      role === 'assistant' ? blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) : []
    if (open.length > 0 && !tools)
      return 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
  }
  return undefined
}

function resultsError(blocks: readonly Block[], open: readonly string[], at: number): string | undefined {
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
  const missing = open.filter((id) => !results.includes(id))
  if (missing.length > 0)
    return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}.`
  const stray = results.find((id) => !open.includes(id))
  if (stray !== undefined)
    return `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}.`
  if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result'))
    return `messages.${at}: \`tool_result\` blocks must come before any other content.`
  return undefined
}

function optionsError({
  thinking,
  max_tokens,
  temperature,
  tool_choice,
  tools,
  messages,
}: MessagesBody): string | undefined {
  if (tool_choice && tool_choice.type !== 'none' && !tools)
    return 'tool_choice may only be specified while providing tools'
  if (thinking?.type !== 'enabled') return undefined
  if (thinking.budget_tokens >= max_tokens)
    return '`max_tokens` must be greater than `thinking.budget_tokens`'
  if (temperature !== undefined && temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled'
  if (tool_choice?.type === 'any' || tool_choice?.type === 'tool')
    return 'Thinking may not be enabled when tool_choice forces tool use.'
  const last = messages.findLast(({ role }) => role === 'assistant')?.content
  const first = typeof last === 'string' ? undefined : (last as readonly Block[] | undefined)
  if (first?.some(({ type }) => type === 'tool_use') && !first[0]!.type.endsWith('thinking'))
    return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.'
  return undefined
}
