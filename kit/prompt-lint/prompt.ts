import { messageTexts } from '../calls/message-texts.ts'
import type { ModelRequest } from '../canonical/forms.ts'

/** Characters of a text that are examined; a prompt that goes on behind them is data. */
const most = 100_000

/** A text that instructs the model. */
export interface Instruction {
  readonly role: 'system' | 'user'
  /** Its place in the request, such as `messages.0`. */
  readonly at: string
  readonly text: string
  /** The text without code, in which anything may stand. */
  readonly prose: string
}

export interface Prompt {
  /** The system messages and the last message of the user. What came between them was examined when it was the last. */
  readonly instructions: readonly Instruction[]
  /** Whether the request itself says which form the answer has. */
  readonly hasForm: boolean
}

/** What a request tells the model to do. */
export function promptOf({ messages, prompt, tools, response_format: format }: ModelRequest): Prompt {
  const hasForm = (format && format.type !== 'text') || (tools?.length ?? 0) > 0
  if (!messages) {
    const text = typeof prompt === 'string' ? prompt : undefined
    return { instructions: text === undefined ? [] : [instruction('user', 'prompt', text)], hasForm }
  }
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const instructions = messages.flatMap((message, n) => {
    const isSystem = message.role === 'system' || message.role === 'developer'
    if (!isSystem && n !== last) return []
    const hasMore = Array.isArray(message.content) && message.content.some(({ type }) => type !== 'text')
    const text = messageTexts(message).join('\n\n')
    return hasMore && text.trim() === ''
      ? []
      : [instruction(isSystem ? 'system' : 'user', `messages.${n}`, text)]
  })
  return { instructions, hasForm }
}

function instruction(role: Instruction['role'], at: string, whole: string): Instruction {
  const text = whole.slice(0, most)
  const prose = text.replace(/```[\s\S]*?(?:```|$)/g, ' ').replace(/`[^`\n]*`/g, ' ')
  return { role, at, text, prose }
}
