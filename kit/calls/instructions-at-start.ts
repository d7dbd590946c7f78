import type { Message } from '../canonical/forms.ts'

/** How many messages with instructions a conversation begins with. */
export function instructionsAtStart(messages: readonly Message[]): number {
  const other = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  return other === -1 ? messages.length : other
}
