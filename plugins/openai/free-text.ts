import type { Message, ModelRequest, Tool, ToolCall } from '#kernel'
import { objectIn } from '#provider'

type Fields = Readonly<Record<string, unknown>>

/** The formats of tools of free text, by the names of the functions that stand for them. */
export type FreeTextTools = Readonly<Record<string, Fields>>

/** A request in which functions that stand for tools of free text are such tools: OpenAI's own models know them. */
export function withFreeText(request: ModelRequest, formats: FreeTextTools): ModelRequest {
  const isFreeText = (name: unknown): boolean => typeof name === 'string' && Object.hasOwn(formats, name)

  const toolOf = (tool: Tool): Tool => {
    const { name, description } = tool.function ?? {}
    if (!isFreeText(name)) return tool
    const custom = { name, ...(description !== undefined && { description }), ...formats[name!] }
    return { type: 'custom', custom }
  }
  const choiceOf = (choice: unknown): unknown => {
    const {
      type,
      function: fn,
      allowed_tools: allowed,
    } = (choice ?? {}) as Record<string, Fields | undefined>
    if (isFreeText(fn?.name)) return { type: 'custom', custom: { name: fn!.name } }
    if (!Array.isArray(allowed?.tools)) return choice
    return { type, allowed_tools: { ...allowed, tools: allowed.tools.map(choiceOf) } }
  }
  const callOf = (call: ToolCall): ToolCall => {
    const { function: fn, ...own } = call
    if (!isFreeText(fn?.name)) return call
    const custom = { name: fn.name, input: textIn(fn.arguments) }
    return { ...own, type: 'custom', custom } as unknown as ToolCall
  }
  const messageOf = (message: Message): Message =>
    message.tool_calls ? { ...message, tool_calls: message.tool_calls.map(callOf) } : message

  return {
    ...request,
    ...(request.tools && { tools: request.tools.map(toolOf) }),
    ...(request.messages && { messages: request.messages.map(messageOf) }),
    ...(request.tool_choice !== undefined && { tool_choice: choiceOf(request.tool_choice) }),
  }
}

function textIn(json: string): string {
  const input = objectIn(json)?.input
  return typeof input === 'string' ? input : json
}
