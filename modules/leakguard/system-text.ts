import type { Call, Message } from '#kernel'
import { holdsPassages, messageTexts } from '#kit'

const isInstruction = (message: Message): boolean =>
  (message.role === 'system' || message.role === 'developer') && !holdsPassages(message)

/** What the operator tells the model in a call; empty where that is nothing. */
export const systemText = ({ request }: Call): string =>
  (request.messages ?? []).filter(isInstruction).flatMap(messageTexts).join('\n')

/** The call with a line at the end of its first message of the operator, where it disturbs no prompt cache. */
export function withLine(call: Call, line: string): Call {
  const messages = call.request.messages!
  const at = messages.findIndex(isInstruction)
  const { content } = messages[at]!
  const changed =
    typeof content === 'string'
      ? `${content}\n\n${line}`
      : [...(content ?? []), { type: 'text' as const, text: line }]
  return call.withRequest({ messages: messages.with(at, { ...messages[at]!, content: changed }) })
}
