import type { Message, ModelRequest } from '#kernel'
import { instructionsAtStart, passagesIntroduction } from '#kit'

/** A passage as the guards let it pass. */
export interface Approved {
  readonly document: string
  readonly chunk: number
  readonly text: string
}

export type Position = 'system' | 'user'

/** The message that holds passages, with marks to cite them by. */
export const messageOf = (passages: readonly Approved[], position: Position): Message => ({
  role: position,
  content: [passagesIntroduction, ...passages.map(({ text }, at) => `[${at + 1}] ${text}`)].join('\n\n'),
})

/**
 * As many of the passages, the best first, as a message has room for, and the tokens of that message; undefined where there is no
 * room for any.
 */
export async function fitted(
  passages: readonly Approved[],
  position: Position,
  most: number,
  tokensOf: (message: Message) => Promise<number>,
): Promise<{ passages: readonly Approved[]; message: Message; tokens: number } | undefined> {
  for (let count = passages.length; count > 0; count -= 1) {
    const some = passages.slice(0, count)
    const message = messageOf(some, position)
    const tokens = await tokensOf(message)
    if (tokens <= most) return { passages: some, message, tokens }
  }
  return undefined
}

/** The messages with one more: behind the instructions at the beginning, or in front of what the user said last. */
export function placed(
  { messages = [] }: ModelRequest,
  message: Message,
  position: Position,
): readonly Message[] {
  const at = position === 'user' ? lastOfUser(messages) : instructionsAtStart(messages)
  return messages.toSpliced(at, 0, message)
}

/** The place of what the user said last, -1 where there is nothing. */
export const lastOfUser = (messages: readonly Message[]): number =>
  messages.findLastIndex(({ role }) => role === 'user')
