import type { ChoiceDelta, CompletionChunk } from '../canonical/forms.ts'

/** Whether a chunk carries something a reader would see: the point after which nothing can be taken back. */
export function hasContent(chunk: CompletionChunk): boolean {
  return chunk.choices.some(choiceHasContent)
}

function choiceHasContent(choice: ChoiceDelta): boolean {
  if (choice.text) return true
  if (choice.finish_reason) return true
  const delta = choice.delta
  if (!delta) return false
  for (const field in delta) {
    if (field === 'role') continue
    const value = delta[field]
    if (value !== null && value !== undefined && value !== '') return true
  }
  return false
}
