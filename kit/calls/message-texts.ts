import type { Message } from '../canonical/forms.ts'

/** The texts of a message's content, in their order: what was said, without calls of tools and reasoning. */
export function messageTexts({ content }: Message): string[] {
  if (typeof content === 'string') return [content]
  return (content ?? []).flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
}
