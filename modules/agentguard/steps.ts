import { hash } from 'node:crypto'
import type { Completion, Message, ModelRequest } from '#kernel'
import { orderedJson, parseForeign } from '#kit'
import { sketchOf } from './sketch.ts'

/** What the history of a call says about the agent that sends it. */
export interface Steps {
  /** Calls of tools in the whole history. */
  readonly toolCalls: number
  /** Rounds of calls of tools since the user's last message. */
  readonly depth: number
  /** How often the most frequent call of a tool with the same arguments occurs since then. */
  readonly repeats: number
  /** Tells the user's messages apart: a new one begins new steps. */
  readonly turn: string
}

/** What an answer adds: nothing of its text. */
export interface Answered {
  /** Each call of a tool with its arguments, as a hash. */
  readonly tools: readonly string[]
  /** Of a text that calls no tool. */
  readonly sketch?: readonly number[]
}

export function stepsOf({ messages = [] }: ModelRequest): Steps {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const since = messages.slice(last + 1).filter(({ role }) => role === 'assistant')
  const counts = new Map<string, number>()
  for (const call of since.flatMap(toolsOf)) counts.set(call, (counts.get(call) ?? 0) + 1)
  return {
    toolCalls: messages.reduce((sum, message) => sum + countOf(message), 0),
    depth: since.filter((message) => countOf(message) > 0).length,
    repeats: Math.max(0, ...counts.values()),
    turn: shortHash(orderedJson(messages[last]?.content ?? null)),
  }
}

export function answeredOf({ choices = [] }: Completion): Answered {
  const messages = choices.flatMap(({ message }) => (message ? [message as Message] : []))
  const tools = messages.flatMap(toolsOf)
  const [first] = messages
  const sketch =
    tools.length === 0 && typeof first?.content === 'string' ? sketchOf(first.content) : undefined
  return { tools, ...(sketch && { sketch }) }
}

/** Whether a call is one of an agent: it offers tools, or tools were called in it. */
export const usesTools = ({ tools, functions, messages = [] }: ModelRequest): boolean =>
  (Array.isArray(tools) && tools.length > 0) ||
  (Array.isArray(functions) && functions.length > 0) ||
  messages.some((message) => message.role === 'tool' || countOf(message) > 0)

interface Called {
  readonly name?: unknown
  readonly arguments?: unknown
  readonly input?: unknown
}

/** The calls of tools in a message, in all the forms that there are: functions, tools with free text, and the one of old. */
function calledIn({ tool_calls, function_call }: Message): Called[] {
  const calls = Array.isArray(tool_calls) ? tool_calls : []
  const called = calls.map((call) => (call.function ?? call.custom ?? {}) as Called)
  return typeof function_call === 'object' && function_call !== null ? [...called, function_call] : called
}

const countOf = (message: Message): number => calledIn(message).length

const toolsOf = (message: Message): string[] =>
  calledIn(message).map((called) => {
    const { name, arguments: given = called.input } = called
    return shortHash(`${String(name)} ${orderedJson(parsed(given))}`)
  })

/** The value of arguments, so that neither spaces nor the order of fields make them look different. */
function parsed(given: unknown): unknown {
  if (typeof given !== 'string') return given
  try {
    return parseForeign(given)
  } catch {
    return given
  }
}

const shortHash = (text: string): string => hash('sha256', text, 'base64url').slice(0, 16)
