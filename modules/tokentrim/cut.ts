import type { ContentPart, Message } from '#kernel'
import { messageTexts } from '#kit'

/** A text that is shorter is not cut. */
const shortest = 400

/**
 * The messages with some of the characters of their longest text taken out of its middle, where that is not an instruction and not
 * pinned. Undefined when no text is long enough.
 */
export function cutLongest(
  messages: readonly Message[],
  characters: number,
  isPinned: (message: Message) => boolean,
): Message[] | undefined {
  let longest = { at: -1, length: shortest }
  for (const [at, message] of messages.entries()) {
    if (message.role === 'system' || message.role === 'developer' || isPinned(message)) continue
    const length = Math.max(0, ...messageTexts(message).map((text) => text.length))
    if (length > longest.length) longest = { at, length }
  }
  if (longest.at === -1) return undefined
  const left = Math.max(shortest / 2, longest.length - characters)
  return messages.map((message, at) => (at === longest.at ? withTextsUpTo(left, message) : message))
}

function withTextsUpTo(most: number, message: Message): Message {
  const { content } = message
  if (typeof content === 'string') return { ...message, content: cutMiddle(content, most) }
  const parts = (content ?? []).map((part): ContentPart => {
    return typeof part.text === 'string' ? { ...part, text: cutMiddle(part.text, most) } : part
  })
  return { ...message, content: parts }
}

/** A text with its middle left out, which it says, so that `most` characters remain. */
function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const head = withoutHalf(text.slice(0, Math.ceil(most / 2)), /[\ud800-\udbff]$/)
  const tail = withoutHalf(text.slice(text.length - Math.floor(most / 2)), /^[\udc00-\udfff]/)
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`
}

/** A character outside of the basic plane is two code units: half of one is none. */
const withoutHalf = (text: string, half: RegExp): string => text.replace(half, '')
