import type { Changes } from '#provider'
import type { Block, Turn } from './native.ts'

/** The beginning of the answer must not end in white space: the service refuses it. */
export function withBareEnd(turns: readonly Turn[], changes: Changes): readonly Turn[] {
  const { role, content } = turns.at(-1) ?? { role: 'user', content: '' }
  if (role !== 'assistant') return turns
  const bare = typeof content === 'string' ? content.trimEnd() : bareBlocks(content)
  if (bare === content) return turns
  changes.add('messages.content->trimmed')
  return [...turns.slice(0, -1), { role, content: bare }]
}

function bareBlocks(blocks: readonly Block[]): readonly Block[] {
  const last = blocks.at(-1)
  const text = last?.type === 'text' ? String(last.text) : ''
  return text === text.trimEnd() ? blocks : [...blocks.slice(0, -1), { ...last!, text: text.trimEnd() }]
}
