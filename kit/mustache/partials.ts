import { tooLarge } from '../errors.ts'
import type { Node } from './parse.ts'

/** Characters of a text with its partials in place. */
export const longestResolved = 200_000

type Partial = Extract<Node, { kind: 'partial' }>

const partialsIn = (nodes: readonly Node[]): readonly Partial[] =>
  nodes.flatMap((node) => {
    if (node.kind === 'partial') return [node]
    return node.kind === 'section' ? partialsIn(node.nodes) : []
  })

/** The slugs of the partials of a text, each once. */
export const slugsIn = (nodes: readonly Node[]): readonly string[] => [
  ...new Set(partialsIn(nodes).map(({ slug }) => slug)),
]

/** A text with the texts of its partials in place of their tags. Refuses one that would get too long. */
export function resolved(
  text: string,
  nodes: readonly Node[],
  textOf: (slug: string) => string,
  at: string,
): string {
  const parts: string[] = []
  let size = 0
  let from = 0
  const add = (part: string): void => {
    size += part.length
    if (size > longestResolved)
      throw tooLarge(`With its partials the text has more than ${longestResolved} characters.`, { param: at })
    parts.push(part)
  }
  for (const { slug, start, end } of partialsIn(nodes)) {
    add(text.slice(from, start))
    add(textOf(slug))
    from = end
  }
  add(text.slice(from))
  return parts.join('')
}
