import { messageTexts } from '../calls/message-texts.ts'
import type { Completion } from '../canonical/forms.ts'

/** The text of an answer's first choice; empty where the model said nothing. */
export function answerText({ choices }: Completion): string {
  const message = choices?.[0]?.message
  return message ? messageTexts(message).join('\n') : ''
}
