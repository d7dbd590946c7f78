import { z } from 'zod'
import { badRequest, type Message } from '#kernel'
import { agentParts } from './agent-message.ts'
import { checked } from './checked.ts'
import { freeTextArguments } from './free-text.ts'
import { offeredIn } from './offered.ts'
import { contentOf } from './parts.ts'
import type { Place } from './places.ts'
import type { Fields, Report } from './schema.ts'
import { customName, functionName, searchName } from './toolbox.ts'
import { AssistantTurn } from './turn.ts'

const parts = z.array(z.looseObject({ type: z.string() }))

const message = z.looseObject({
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), parts]),
})
const between = z.looseObject({ content: parts })
const call = { call_id: z.string(), name: z.string(), namespace: z.string().nullish() }
const functionCall = z.looseObject({ ...call, arguments: z.string() })
const customCall = z.looseObject({ ...call, input: z.string() })
const searchCall = z.looseObject({ call_id: z.string(), arguments: z.unknown() })
const searchOutput = z.looseObject({ call_id: z.string() })
const output = z.looseObject({ call_id: z.string(), output: z.union([z.string(), parts]) })
const reasoning = z.looseObject({
  summary: z.array(z.looseObject({ text: z.string() })).nullish(),
  content: z.array(z.looseObject({ text: z.string() })).nullish(),
  encrypted_content: z.string().nullish(),
})

export interface PlacedMessage {
  readonly message: Message
  readonly place: Place
}

/**
 * Items of a conversation as messages. Thoughts, words and calls of the assistant in one go become one message. Throws a bad
 * request that names the item's field.
 */
export function messagesOf(items: readonly Fields[], report: Report, at = 'input'): PlacedMessage[] {
  const messages: PlacedMessage[] = []
  let turn: { readonly said: AssistantTurn; readonly at: string } | undefined
  const close = (): void => {
    const message = turn?.said.message()
    if (turn && message) messages.push({ message, place: { at: turn.at } })
    turn = undefined
  }
  for (const [i, item] of items.entries()) {
    const where = `${at}.${i}`
    if (saysNothing(item)) {
      if (isRecord(item)) report(`-input.${String(item.type)}`)
    } else if (isAssistants(item)) {
      turn ??= { said: new AssistantTurn(), at: where }
      addTo(turn.said, item, where, report)
    } else {
      close()
      const message = otherOf(item, where, report)
      messages.push({
        message,
        place: { at: where, content: message.role === 'tool' ? 'output' : 'content' },
      })
    }
  }
  close()
  return messages
}

const isAssistants = ({ type, role }: Fields): boolean =>
  type === 'reasoning' || isCall(type) || (isMessage(type) && role === 'assistant')

const isCall = (type: unknown): boolean =>
  type === 'function_call' || type === 'custom_tool_call' || type === 'tool_search_call'

/** What a service did of its own accord, when another answered: its results are in what was said after it. */
const records = new Set<unknown>([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
])

const isRecord = ({ type, call_id: id }: Fields): boolean =>
  records.has(type) || ((type === 'tool_search_call' || type === 'tool_search_output') && id == null)

/** Items that are no part of what is said; the tools that some of them bring are among those of the request. */
const saysNothing = (item: Fields): boolean => item.type === 'additional_tools' || isRecord(item)

const isMessage = (type: unknown): boolean => type === undefined || type === 'message'

function addTo(turn: AssistantTurn, item: Fields, at: string, report: Report): void {
  if (item.type === 'reasoning') {
    const { summary, content, encrypted_content: state } = checked(reasoning, item, at)
    const texts = [...(content ?? []), ...(summary ?? [])].map(({ text }) => text)
    if (!turn.think(texts.join('\n\n'), state ?? undefined)) report('-input.encrypted_content')
  } else if (item.type === 'function_call') {
    const { call_id: id, name, namespace, arguments: json } = checked(functionCall, item, at)
    turn.call(id, functionName(name, namespace), json)
  } else if (item.type === 'custom_tool_call') {
    const { call_id: id, name, namespace, input } = checked(customCall, item, at)
    turn.call(id, customName(name, namespace), freeTextArguments(input))
  } else if (item.type === 'tool_search_call') {
    const { call_id: id, arguments: asked } = checked(searchCall, item, at)
    turn.call(id, searchName, JSON.stringify(asked ?? {}))
  } else {
    const { content } = checked(message, item, at)
    turn.say(typeof content === 'string' ? content : contentOf(content, `${at}.content`))
  }
}

function otherOf(item: Fields, at: string, report: Report): Message {
  const { type } = item
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    const { call_id: id, output: said } = checked(output, item, at)
    const content = typeof said === 'string' ? said : contentOf(said, `${at}.output`)
    return { role: 'tool', tool_call_id: id, content }
  }
  if (type === 'tool_search_output') {
    const { call_id: id, tools } = checked(searchOutput, item, at)
    const names = [...offeredIn(tools as Fields[], `${at}.tools`)].map(({ tool, namespace }) =>
      functionName(String(tool.name ?? tool.type), namespace),
    )
    return { role: 'tool', tool_call_id: id, content: JSON.stringify({ found: names }) }
  }
  if (type === 'agent_message') {
    const { content } = checked(between, item, at)
    return { role: 'user', content: contentOf(agentParts(content, `${at}.content`, report), `${at}.content`) }
  }
  if (!isMessage(type))
    throw badRequest(`${at}.type: items of the type ${String(type)} are not supported.`, {
      param: `${at}.type`,
    })
  const { role, content } = checked(message, item, at)
  return { role, content: typeof content === 'string' ? content : contentOf(content, `${at}.content`) }
}
