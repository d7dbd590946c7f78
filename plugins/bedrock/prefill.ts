import type { Scene } from './parts.ts'
import type { Turn } from './wire.ts'

/** The beginning of the answer must not end in white space: Claude refuses it. */
export function withBareEnd(turns: readonly Turn[], { changes }: Scene): readonly Turn[] {
  const { role, content } = turns.at(-1)!
  const at = content.findLastIndex(({ cachePoint }) => !cachePoint)
  const text = content[at]?.text
  if (role !== 'assistant' || text === undefined || text === text.trimEnd()) return turns
  changes.add('messages.content->trimmed')
  return [...turns.slice(0, -1), { role, content: content.with(at, { text: text.trimEnd() }) }]
}
