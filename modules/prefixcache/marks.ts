import type { Message, ModelRequest } from '#kernel'
import type { Arranged } from './arrange.ts'

/** The marks that Anthropic's protocol sets: `cache` of its options. */
export interface Marks {
  readonly at: readonly ('tools' | 'system' | 'messages')[]
  readonly ttl: '5m' | '1h'
  /** Blocks of the system text before its mark. */
  readonly system_blocks: number
}

/** When the end of a conversation is marked, so that its next turn finds it in the cache. */
export const conversationMarks = ['never', 'continued', 'always'] as const

interface MarkOptions {
  readonly ttl: Marks['ttl']
  readonly conversation: (typeof conversationMarks)[number]
}

/**
 * Marks the end of each part that later calls are likely to have. After instructions that change from call to call there is nothing
 * to find, so nothing behind them is marked.
 */
export function marksOf(
  { stable, isWhole, tools }: Arranged,
  { messages = [] }: ModelRequest,
  { ttl, conversation }: MarkOptions,
): Marks {
  const isContinued = messages.some(({ role }) => role === 'assistant')
  const system_blocks = stable.reduce((sum, message) => sum + blocksIn(message), 0)
  const marksEnd = conversation === 'always' || (conversation === 'continued' && isContinued)
  return {
    at: [
      ...(tools.length > 0 ? (['tools'] as const) : []),
      ...(system_blocks > 0 ? (['system'] as const) : []),
      ...(isWhole && marksEnd ? (['messages'] as const) : []),
    ],
    ttl,
    system_blocks,
  }
}

/** The blocks that a message becomes: blank texts become none. */
function blocksIn({ content }: Message): number {
  if (typeof content === 'string') return content.trim() === '' ? 0 : 1
  return (content ?? []).filter(({ type, text }) => type !== 'text' || String(text ?? '').trim() !== '')
    .length
}
