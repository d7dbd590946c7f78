import type { ModelRequest } from '#kernel'
import { messageTexts } from '#kit'

/** What the user said last. */
export function lastWords({ messages, prompt }: ModelRequest): string {
  if (typeof prompt === 'string') return prompt
  const last = messages?.findLast(({ role }) => role === 'user')
  return last ? messageTexts(last).join('\n') : ''
}

/** Whether any message of the conversation has an image. */
export const hasImages = ({ messages = [] }: ModelRequest): boolean =>
  messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => /^(input_)?image/.test(type)),
  )
