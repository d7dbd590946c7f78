import type { Call, Message } from '#kernel'
import { messageTexts } from '#kit'

const isSystem = ({ role }: Message): boolean => role === 'system' || role === 'developer'

/** What the operator tells the model in a call; empty where that is nothing. */
export const systemText = ({ request }: Call): string =>
  (request.messages ?? []).filter(isSystem).flatMap(messageTexts).join('\n')

/** The call with a line at the end of its first system message, where it disturbs no prompt cache. */
export function withLine(call: Call, line: string): Call {
  const messages = call.request.messages!
  const at = messages.findIndex(isSystem)
  const { content } = messages[at]!
  const changed =
    typeof content === 'string'
      ? `${content}\n\n${line}`
      : [...(content ?? []), { type: 'text' as const, text: line }]
  return call.withRequest({ messages: messages.with(at, { ...messages[at]!, content: changed }) })
}
