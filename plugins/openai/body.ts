import type { Call, Message, ModelRequest, Target } from '#kernel'
import { Changes } from '#kit'
import { withoutForeign } from './foreign.ts'
import { type Quirks, quirksOf } from './quirks.ts'
import { toolIdsOf } from './tool-ids.ts'
import { withTurns } from './turns.ts'

/**
 * The body as it is sent. It is serialised anew, never passed on as it came: what the modules have seen is then what
 * the provider gets, also when a body names a field twice.
 */
export function bodyOf(call: Call, { provider, model }: Target): object {
  const quirks = quirksOf(provider)
  const changed: string[] = []
  const request = carriedOf(call, quirks, (change) => changed.push(change))
  const body: Record<string, unknown> = { ...request, model: nameOf(model, provider.name, quirks) }
  if (call.stream && call.operation !== 'embedding' && !quirks.no_stream_usage) {
    body.stream_options = { ...request.stream_options, include_usage: true }
  }
  changed.push(...adapted(body, quirks))
  if (request.messages) {
    const messages = messagesOf(request.messages, quirks, changed)
    if (messages !== request.messages) body.messages = messages
  }
  const changes = new Changes(call)
  for (const change of changed) changes.add(change)
  return body
}

/** What a client of another wire says, in this protocol's terms. */
function carriedOf({ wire, request }: Call, quirks: Quirks, report: (change: string) => void): ModelRequest {
  if (wire === 'messages') return withoutForeign(request, report)
  return wire === 'responses' ? withTurns(request, quirks.reasoning_back, report) : request
}

function nameOf(model: string, provider: string, { own_models }: Quirks): string {
  return own_models.includes(model) ? `${provider}/${model}` : model
}

/** Makes the fields what the provider takes; returns what was changed of the caller's own. */
function adapted(body: Record<string, unknown>, { rename, drop, add, tool_choice }: Quirks): string[] {
  const changed: string[] = []
  for (const [from, to] of Object.entries(rename)) {
    if (body[from] === undefined) continue
    body[to] ??= body[from]
    delete body[from]
    changed.push(`${from}->${to}`)
  }
  for (const field of drop) {
    if (body[field] === undefined) continue
    delete body[field]
    changed.push(`-${field}`)
  }
  for (const [field, value] of Object.entries(add)) body[field] ??= value
  const choice = body.tool_choice
  const known = typeof choice === 'string' ? tool_choice[choice] : undefined
  if (known !== undefined) {
    body.tool_choice = known
    changed.push(`tool_choice:${String(choice)}->${known}`)
  }
  return changed
}

function messagesOf(
  messages: readonly Message[],
  { roles, drop_from_messages, drop_from_tool_calls, toolIds }: Quirks,
  changed: string[],
): readonly Message[] {
  const renamed = [...new Set(messages.map(({ role }) => role))].filter((role) => roles[role] !== undefined)
  const dropped = drop_from_messages.filter((field) =>
    messages.some((message) => message[field] !== undefined),
  )
  const lost = drop_from_tool_calls.filter((field) =>
    messages.some(({ tool_calls }) => tool_calls?.some((call) => Object.hasOwn(call, field))),
  )
  const withIds = toolIds && toolIdsOf(messages, toolIds)
  if (renamed.length === 0 && dropped.length === 0 && lost.length === 0 && !withIds) return messages
  changed.push(
    ...renamed.map((role) => `role:${role}->${roles[role]}`),
    ...dropped.map((field) => `-messages.${field}`),
    ...lost.map((field) => `-messages.tool_calls.${field}`),
  )
  return messages.map((message) => {
    const { tool_calls, ...rest } = withIds?.(message) ?? message
    const calls = lost.length > 0 ? tool_calls?.map((call) => without(call, lost)) : tool_calls
    const role = roles[message.role] ?? message.role
    return without({ ...rest, role, ...(calls && { tool_calls: calls }) }, dropped) as unknown as Message
  })
}

/** A copy that lacks these fields. */
function without(value: object, fields: readonly string[]): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...value }
  for (const field of fields) delete copy[field]
  return copy
}
