import type { Completion, ModelRequest, TextLocation } from '#kernel'
import { mapReplyTexts, requestTexts } from '#kit'

/** A text of a call and where it stands. */
export interface PlacedText {
  readonly text: string
  readonly place: TextLocation
}

/** The texts of a stored side of a call; none of one that is not whole. */
export function storedTexts(side: 'request' | 'response', stored: unknown): readonly PlacedText[] {
  if (typeof stored !== 'object' || stored === null || 'truncated' in stored) return []
  if (side === 'request') return requestTexts(stored as ModelRequest)
  const texts: PlacedText[] = []
  mapReplyTexts(stored as Completion, (text, place) => {
    texts.push({ text, place })
    return text
  })
  return texts
}
