import type { Completion } from '../canonical/forms.ts'
import { mapReplyTexts } from '../canonical/texts.ts'

/** The texts of an answer, in its order. */
export function answerTexts(body: Completion | undefined): string[] {
  const texts: string[] = []
  mapReplyTexts(body ?? {}, (text) => {
    texts.push(text)
    return text
  })
  return texts
}
