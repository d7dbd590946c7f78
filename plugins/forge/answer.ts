import type { Completion } from '#kernel'
import { messageTexts } from '#kit'

/** The text of an answer; empty where the model said nothing. */
export function answerOf({ choices }: Completion): string {
  const message = choices?.[0]?.message
  return message ? messageTexts(message).join('\n') : ''
}
