import type { Call } from '#kernel'
import { protocolOptions } from '#kit'
import type { Block } from './native.ts'

/** How a call wants to be translated, where there is a choice; `protocolOptions` has what a module says of it. */
export interface Fit {
  /** Whether system messages in the midst of a conversation go to the top, or stay as words of the user. */
  readonly system: 'merge' | 'in_place'
  /** Tokens to think with, by effort, where they are to be others than usual. */
  readonly thinking_budgets: Readonly<Record<string, number>>
  /** Most of an answer that may be thinking. */
  readonly thinking_share: number
  /** The part that gives way when a request both forces a tool and asks to think: they exclude each other. */
  readonly forced_tools: 'without_thinking' | 'as_auto'
  readonly cache: {
    readonly at: readonly CachePlace[]
    readonly ttl: '5m' | '1h'
    /** Blocks of the system text that are before its mark; all where it is not said. */
    readonly system_blocks?: number
  }
  readonly betas: readonly string[]
  readonly thinking: 'show' | 'hide'
  readonly citations: 'show' | 'hide'
}

export type CachePlace = 'tools' | 'system' | 'messages'

const usual: Fit = {
  system: 'merge',
  thinking_budgets: {},
  thinking_share: 0.8,
  forced_tools: 'without_thinking',
  cache: { at: [], ttl: '5m' },
  betas: [],
  thinking: 'show',
  citations: 'show',
}

export const fitOf = (call: Call): Fit => ({ ...usual, ...protocolOptions(call, 'anthropic') })

type Fields = Record<string, unknown>

/** The body with a mark at the end of each place that is to be cached; one that has marks of its own stays as it is. */
export function marked(body: Fields, { cache: { at, ttl, system_blocks } }: Fit): Fields {
  if (at.length === 0 || JSON.stringify(body).includes('"cache_control"')) return body
  const mark = { type: 'ephemeral', ...(ttl === '1h' && { ttl }) }
  const result = { ...body }
  for (const place of at) {
    if (place === 'messages') result.messages = lastMarked(body.messages, mark)
    else if (place === 'system') result.system = blocksMarked(body.system, mark, system_blocks)
    else if (Array.isArray(body.tools)) result.tools = blocksMarked(body.tools, mark)
  }
  return result
}

/** A text, or blocks, with a mark on the last block, of so many, that may have one. */
function blocksMarked(content: unknown, mark: object, count?: number): unknown {
  if (typeof content === 'string' && content !== '') {
    return [{ type: 'text', text: content, cache_control: mark }]
  }
  if (!Array.isArray(content)) return content
  const blocks = content as readonly Block[]
  const last = blocks
    .slice(0, count)
    .findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  return blocks.map((block, i) => (i === last ? { ...block, cache_control: mark } : block))
}

function lastMarked(messages: unknown, mark: object): unknown {
  if (!Array.isArray(messages)) return messages
  const turns = messages as readonly { readonly content: unknown }[]
  const last = turns.at(-1)
  return last ? [...turns.slice(0, -1), { ...last, content: blocksMarked(last.content, mark) }] : messages
}
