import type { Choice, ChoiceDelta, Message } from '#kernel'

interface Part {
  readonly type?: unknown
  readonly text?: unknown
  readonly thinking?: unknown
}

interface Said {
  readonly content?: unknown
}

interface Body {
  readonly choices?: readonly (Choice | ChoiceDelta)[]
}

/** A content that is a list of parts, found without parsing. */
const listed = /"content"[\s:]*\[/

/** Whether the content of an answer, or of an event, may have thoughts among its parts. */
export const listsContent = (bytes: Buffer): boolean => listed.test(bytes.toString('latin1'))

/** An answer, or an event of one, whose content is a text again, and the thoughts that stood in it apart. */
export function withThoughtsApart<B extends Body>(body: B): B {
  if (!Array.isArray(body.choices)) return body
  const choices = body.choices.map((one: unknown) => {
    if (typeof one !== 'object' || one === null) return one
    const choice = { ...one } as Record<string, unknown>
    for (const field of ['message', 'delta']) {
      const said = choice[field] as Said | undefined
      const content = said?.content
      if (Array.isArray(content) && content.every(isPart)) choice[field] = { ...said, ...parted(content) }
    }
    return choice
  })
  return { ...body, choices }
}

const isPart = (part: unknown): part is Part => typeof part === 'object' && part !== null

function parted(parts: readonly Part[]): object {
  const thoughts = parts.map(({ type, thinking }) => (type === 'thinking' ? textOf(thinking) : '')).join('')
  const content = parts.map(({ type, text }) => (type === 'text' ? textOf(text) : '')).join('')
  return { content, ...(thoughts !== '' && { reasoning_content: thoughts }) }
}

/** A message of the model's whose thoughts stand in its content again, before what it said. */
export function withThoughtsInside(message: Message): Message {
  const { reasoning_content, reasoning, content, ...rest } = message
  const thoughts = [reasoning_content, reasoning].find((text) => typeof text === 'string' && text !== '')
  if (message.role !== 'assistant' || thoughts === undefined) return message
  const said =
    typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: thoughts }], closed: true }
  return { ...rest, content: [thinking, ...(said ?? [])] }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return Array.isArray(value)
    ? value
        .filter(isPart)
        .map(({ text }) => textOf(text))
        .join('')
    : ''
}
