import { z } from 'zod'
import type { Call, Completion, Message } from '#kernel'
import { messageTexts, roughTokens } from '#kit'

/** What a user said and was answered. */
export interface Turn {
  readonly user: string
  readonly assistant: string
}

export const turn = z.object({ user: z.string(), assistant: z.string() })

/** Characters of each that are remembered. */
const longest = 8000

/**
 * The turn that an answer completes: what the user said last, and the text of the first choice. Undefined where one of them has no
 * text, as for calls of tools, and for an answer that a filter has ended.
 */
export function turnOf(messages: readonly Message[], { choices }: Completion): Turn | undefined {
  const choice = choices?.[0]
  if (!choice?.message || (choice.finish_reason !== 'stop' && choice.finish_reason !== 'length'))
    return undefined
  const user = saidLast(messages)
  const assistant = textOf(choice.message)
  return user === '' || assistant === '' ? undefined : { user: cut(user), assistant: cut(assistant) }
}

/** The messages that a client has sent, which are the last of its call: a template puts its own before them. */
export function ownMessages({ request, trace }: Pick<Call, 'request' | 'trace'>): readonly Message[] {
  const { messages = [] } = request
  const { client_messages: count } = (trace.facts.template ?? {}) as { readonly client_messages?: number }
  return count === undefined ? messages : messages.slice(Math.max(0, messages.length - count))
}

/** Whether a client sends the history itself: its messages have answers of the model, or results of tools. */
export const hasHistory = (messages: readonly Message[]): boolean =>
  messages.some(({ role }) => role === 'assistant' || role === 'tool' || role === 'function')

export const messagesOf = ({ user, assistant }: Turn): Message[] => [
  { role: 'user', content: user },
  { role: 'assistant', content: assistant },
]

/** About how many tokens a turn takes in a call. */
export const tokensOf = (turn: Turn): number => roughTokens({ messages: messagesOf(turn) })

/** The messages of the user behind the last one of anybody else that has others of the user before it. */
function saidLast(messages: readonly Message[]): string {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const before = messages.slice(0, last + 1).findLastIndex(({ role }) => role !== 'user')
  return messages
    .slice(before + 1, last + 1)
    .map(textOf)
    .filter((text) => text !== '')
    .join('\n\n')
}

const textOf = (message: Message): string => messageTexts(message).join('\n').trim()

/** No character is halved. */
const cut = (text: string): string => text.slice(0, longest).replace(/[\ud800-\udbff]$/, '')
