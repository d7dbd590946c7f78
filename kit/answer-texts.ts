import type { Completion } from '../kernel/call/canonical.ts'
import { mapReplyTexts } from '../kernel/call/texts.ts'

/** The texts of an answer, in its order. */
export function answerTexts(body: Completion | undefined): string[] {
  const texts: string[] = []
  mapReplyTexts(body ?? {}, (text) => {
    texts.push(text)
    return text
  })
  return texts
}
