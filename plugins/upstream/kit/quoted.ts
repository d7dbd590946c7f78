import type { ContentPart, Message } from '#kernel'

type Fields = Readonly<Record<string, unknown>>

/**
 * Puts parts that only Anthropic knows into common forms: documents and search results as their texts and pictures. It drops
 * marks for Claude's cache and calls `report` with them. Parts that are only referred to stay as they are. The same content
 * when nothing had to change.
 */
export function quoted(content: Message['content'], report: (change: string) => void): Message['content'] {
  if (!Array.isArray(content) || !content.some(isForeign)) return content
  return (content as readonly ContentPart[]).flatMap((part) => partsOf(part, report))
}

const isForeign = (part: ContentPart): boolean =>
  part.type === 'document' || part.type === 'search_result' || (part as Fields).cache_control !== undefined

function partsOf(part: ContentPart, report: (change: string) => void): readonly ContentPart[] {
  const { cache_control, ...own } = part as ContentPart & Fields
  if (cache_control !== undefined) report('-cache_control')
  if (own.type === 'search_result') return innerOf(own.content, own.title, report) ?? [own]
  if (own.type !== 'document') return [own]
  const { type, text, content } = (own.source ?? {}) as Fields
  return innerOf(type === 'text' ? text : content, own.title, report) ?? [own]
}

function innerOf(
  content: unknown,
  title: unknown,
  report: (change: string) => void,
): readonly ContentPart[] | undefined {
  const heading = typeof title === 'string' && title !== '' ? `${title}\n\n` : ''
  if (typeof content === 'string') return [{ type: 'text', text: heading + content }]
  if (!Array.isArray(content)) return undefined
  const parts = (content as readonly ContentPart[]).flatMap((part) => partsOf(part, report))
  return heading === '' ? parts : [{ type: 'text', text: heading.trimEnd() }, ...parts]
}
