import type { Call, Message, ModelRequest, Target } from '#kernel'
import { compileGlobs, protocolOptions } from '#kit'
import { Changes, reportUnsaid } from '#provider'
import { withoutForeign } from './foreign.ts'
import { type FreeTextTools, withFreeText } from './free-text.ts'
import { type Quirks, quirksOf } from './quirks.ts'
import { withThoughtsInside } from './thoughts.ts'
import { toolIdsOf } from './tool-ids.ts'
import { withTurns } from './turns.ts'

/**
 * The body as it is sent. It is serialised anew, never passed on as it came: what the modules have seen is then what
 * the provider gets, also when a body names a field twice.
 */
export function bodyOf(call: Call, { provider, model }: Target): Record<string, unknown> {
  const quirks = quirksOf(provider)
  const changes = new Changes(call)
  const takesThoughts = quirks.thoughts_back.length > 0 && compileGlobs(quirks.thoughts_back)(model)
  const request = carriedOf(call, quirks, takesThoughts, changes)
  const body: Record<string, unknown> = { ...request, model: nameOf(model, provider.name, quirks) }
  if (quirks.no_stream_usage) delete body.stream_options
  else if (call.stream && call.operation !== 'embedding')
    body.stream_options = { ...request.stream_options, include_usage: true }
  const { prompt_cache_key: cacheKey } = protocolOptions(call, 'openai')
  if (quirks.prompt_cache_key && cacheKey !== undefined) body.prompt_cache_key ??= cacheKey
  adapt(body, quirks, changes)
  if (request.messages) {
    const given = takesThoughts ? request.messages.map(withThoughtsInside) : request.messages
    const adapted = messagesOf(given, quirks, changes)
    const spoken = quirks.no_silence ? adapted.filter(saysOrCalls) : adapted
    const messages = quirks.assistant_after_tool ? withWordsBetween(spoken, changes) : spoken
    if (messages !== request.messages) body.messages = messages
  }
  return body
}

/** The fields of a client of another wire, in this protocol's terms. */
function carriedOf(call: Call, quirks: Quirks, takesThoughts: boolean, changes: Changes): ModelRequest {
  const { wire, request } = call
  const { takes_effort, reasoning_back, free_text_tools } = quirks
  const report = (change: string): void => changes.add(change)
  const wants = takesThoughts ? [...reasoning_back, 'reasoning_content'] : reasoning_back
  if (wire === 'messages') {
    const takes = { effort: takes_effort, thoughts: wants.includes('reasoning_content') }
    return withoutForeign(request, takes, report)
  }
  if (wire === 'gemini') {
    reportUnsaid(call, changes)
    if (call.operation === 'embedding') return withoutTask(request, report)
    return withoutForeign(
      request,
      { effort: takes_effort, thoughts: wants.includes('reasoning_content') },
      report,
    )
  }
  if (wire !== 'responses') return request
  const carried = withTurns(request, wants, report)
  const { free_text_tools: formats } = protocolOptions(call, 'openai')
  return free_text_tools && formats ? withFreeText(carried, formats as FreeTextTools) : carried
}

/** Texts to be embedded, without what Google's clients say of their use. */
function withoutTask({ task_type: task, title, ...request }: ModelRequest, report: (change: string) => void) {
  if (task !== undefined) report('-task_type')
  if (title !== undefined) report('-title')
  return request as ModelRequest
}

function nameOf(model: string, provider: string, { own_models }: Quirks): string {
  return own_models.includes(model) ? `${provider}/${model}` : model
}

/** Makes the fields what the provider takes. */
function adapt(body: Record<string, unknown>, quirks: Quirks, changes: Changes): void {
  const { rename, drop, add } = quirks
  for (const from in rename) {
    if (body[from] === undefined) continue
    const to = rename[from]!
    body[to] ??= body[from]
    delete body[from]
    changes.add(`${from}->${to}`)
  }
  for (const field of drop) {
    if (body[field] === undefined) continue
    delete body[field]
    changes.add(`-${field}`)
  }
  for (const field in add) body[field] ??= add[field]
  renameValue(body, 'tool_choice', quirks.tool_choice, changes)
  renameValue(body, 'reasoning_effort', quirks.efforts, changes)
}

/** Gives the value of a field the name it has there. */
function renameValue(
  body: Record<string, unknown>,
  field: string,
  names: Readonly<Record<string, string>>,
  changes: Changes,
): void {
  const value = body[field]
  const known = typeof value === 'string' ? names[value] : undefined
  if (known === undefined) return
  body[field] = known
  changes.add(`${field}:${String(value)}->${known}`)
}

function messagesOf(
  messages: readonly Message[],
  { roles, drop_from_messages, drop_from_tool_calls, toolIds }: Quirks,
  changes: Changes,
): readonly Message[] {
  const renamed = new Set<string>()
  for (const { role } of messages) if (roles[role] !== undefined) renamed.add(role)
  const dropped = drop_from_messages.filter((field) =>
    messages.some((message) => message[field] !== undefined),
  )
  const lost = drop_from_tool_calls.filter((field) =>
    messages.some(({ tool_calls }) => tool_calls?.some((call) => Object.hasOwn(call, field))),
  )
  const withIds = toolIds && toolIdsOf(messages, toolIds)
  if (renamed.size === 0 && dropped.length === 0 && lost.length === 0 && !withIds) return messages
  for (const role of renamed) changes.add(`role:${role}->${roles[role]}`)
  for (const message of messages) changes.lose(message, dropped, lost)
  return messages.map((message) => {
    const { tool_calls, ...rest } = withIds?.(message) ?? message
    const calls = lost.length > 0 ? tool_calls?.map((call) => without(call, lost)) : tool_calls
    const role = roles[message.role] ?? message.role
    return without({ ...rest, role, ...(calls && { tool_calls: calls }) }, dropped) as unknown as Message
  })
}

const saysOrCalls = ({ role, content, tool_calls }: Message): boolean =>
  role !== 'assistant' || (content?.length ?? 0) > 0 || (tool_calls?.length ?? 0) > 0

/** Something said by the model where a user or the system speaks right after a tool. */
function withWordsBetween(messages: readonly Message[], changes: Changes): readonly Message[] {
  const follows = ({ role }: Message, i: number): boolean =>
    (role === 'user' || role === 'system') && messages[i - 1]?.role === 'tool'
  if (!messages.some(follows)) return messages
  changes.add('+messages.assistant')
  return messages.flatMap((message, i) =>
    follows(message, i) ? [{ role: 'assistant', content: 'OK.' }, message] : [message],
  )
}

/** A copy that lacks these fields. */
function without(value: object, fields: readonly string[]): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...value }
  for (const field of fields) delete copy[field]
  return copy
}
