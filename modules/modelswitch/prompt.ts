import type { ModelRequest } from '#kernel'

/** What the user said last. */
export function lastWords({ messages, prompt }: ModelRequest): string {
  if (typeof prompt === 'string') return prompt
  const { content = '' } = messages?.findLast(({ role }) => role === 'user') ?? {}
  if (typeof content === 'string') return content
  return (content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n')
}

/** Whether any message of the conversation has an image. */
export const hasImages = ({ messages = [] }: ModelRequest): boolean =>
  messages.some(
    ({ content }) => Array.isArray(content) && content.some(({ type }) => /^(input_)?image/.test(type)),
  )
