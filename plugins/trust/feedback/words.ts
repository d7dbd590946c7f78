import type { BodySeals } from '#kit'
import type { FeedbackRow, Said } from './store.ts'

type Words = Pick<FeedbackRow, 'comment' | 'correction' | 'end_user'>

/** What was said as it is stored: its texts are sealed where the bodies of its author's calls are. */
export async function sealedWords(
  { comment, correction, end_user, ...said }: Said,
  seals: BodySeals,
  author: Parameters<BodySeals['sealFor']>[0],
): Promise<Said> {
  const words: Words = { comment, correction, end_user }
  const text = JSON.stringify(words)
  const seal = text === '{}' ? undefined : await seals.sealFor(author)
  return seal ? { ...said, words: seal(text) } : { ...said, ...words }
}

/** The same with its texts; without them where they cannot be opened any more. */
export async function openedWords({ words, ...row }: FeedbackRow, seals: BodySeals): Promise<FeedbackRow> {
  if (words === undefined) return row
  const text = await seals.tryOpen(words)
  return text === undefined ? row : { ...row, ...(JSON.parse(text) as Words) }
}
