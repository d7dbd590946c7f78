import { hash } from 'node:crypto'
import { badRequest, type ResponseFormat, type Tool, tooLarge } from '#kernel'
import {
  canonicalJson,
  lint,
  type MustacheNode,
  mustacheNames,
  mustachePartials,
  parseMustache,
  takingTurns,
  withPartials,
} from '#kit'
import type { Content } from './input.ts'
import { messagesOf } from './prompt.ts'
import type { VersionBody } from './rows.ts'
import { variablesOf } from './variables.ts'

/** Partials inside each other. */
const deepest = 5
/** Characters of what a version says, as JSON. */
const longest = 500_000

type Made = 'resolved' | 'parts' | 'partials' | 'depth' | 'variables' | 'sha256' | 'lint'

/** Estimated tokens of a system message above which the linter calls it long. */
const longestSystem = 2000

/** What a version is made of. */
export interface Draft extends Omit<VersionBody, Made> {
  /** Whether its words about variables are those of the version before it; words about variables that are gone go with them. */
  readonly inherits: boolean
}

/** A version of a template that is put into another; without an id a text that comes from elsewhere. */
export interface Part {
  readonly id: string | undefined
  readonly version: number
  readonly body: Pick<VersionBody, 'content' | 'resolved' | 'depth' | 'partials'>
}

/**
 * Makes the body of a version of the template with this id. Partials are put in place here and now, so that no later change of
 * theirs changes it. Others have their turn meanwhile. Throws a bad request for what cannot be published.
 */
export async function published(
  { inherits, ...draft }: Draft,
  id: string | undefined,
  partOf: (slug: string) => Promise<Part>,
): Promise<VersionBody> {
  checkLength(draft)
  const { content } = draft
  const turn = takingTurns()
  const texts: (Text & { nodes: readonly MustacheNode[] })[] = []
  for (const { text, at } of textsOf(content)) {
    texts.push({ text, at, nodes: parseMustache(text, at) })
    await turn()
  }
  const parts = new Map<string, Part>()
  for (const slug of new Set(texts.flatMap(({ nodes }) => mustachePartials(nodes)))) {
    parts.set(slug, checked(slug, await partOf(slug), id))
  }
  const whole = texts.map(({ text, nodes, at }) =>
    withPartials(text, nodes, (slug) => partText(parts.get(slug)!), at),
  )
  const read: (readonly MustacheNode[])[] = []
  for (const [n, { text, at, nodes: own }] of texts.entries()) {
    read.push(whole[n] === text ? own : parseMustache(whole[n]!, at))
    await turn()
  }
  const nodes = read.flat()
  const depth = Math.max(0, ...Array.from(parts.values(), ({ body }) => body.depth + 1))
  if (depth > deepest) throw refused(`more than ${deepest} partials are inside each other`)
  const names = inherits ? mustacheNames(nodes) : undefined
  const declared = names ? draft.declared.filter(({ name }) => names.has(name)) : draft.declared
  const body: VersionBody = {
    ...draft,
    declared,
    ...(parts.size > 0 && {
      resolved: withTexts(content, whole),
      parts: Object.fromEntries(Array.from(parts, ([slug, part]) => [slug, partText(part)])),
    }),
    partials: closure(parts),
    depth,
    variables: variablesOf(nodes, declared),
    lint: weaknesses(draft, withTexts(content, whole)),
    sha256: hash('sha256', typeof content === 'string' ? content : canonicalJson(content)),
  }
  checkLength(body)
  return body
}

function checkLength(said: object): void {
  if (JSON.stringify(said).length > longest)
    throw tooLarge(`A version may have ${longest} characters in all.`, { param: 'content' })
}

/** A text of a version, and its place. */
interface Text {
  readonly text: string
  readonly at: string
}

const textsOf = (content: Content): readonly Text[] =>
  typeof content === 'string'
    ? [{ text: content, at: 'content' }]
    : content.map(({ content: text }, n) => ({ text, at: `content.${n}.content` }))

const withTexts = (content: Content, texts: readonly string[]): Content =>
  typeof content === 'string' ? texts[0]! : content.map((message, n) => ({ ...message, content: texts[n]! }))

function checked(slug: string, part: Part, id: string | undefined): Part {
  if (typeof part.body.content !== 'string')
    throw refused(`the template ${slug} has messages, and only a text can be a partial`)
  if (id === undefined) return part
  if (part.id === id || part.body.partials.some((inner) => inner.id === id))
    throw refused(`the partial ${slug} leads back to this template`)
  return part
}

/** The text that a partial stands for. */
export const partText = ({ body: { resolved, content } }: Part): string => String(resolved ?? content)

/** All templates that are in a version, each once in each version of it. */
function closure(parts: ReadonlyMap<string, Part>): VersionBody['partials'] {
  const all = [...parts].flatMap(([slug, { id, version, body }]) => [
    ...(id === undefined ? [] : [{ id, slug, version }]),
    ...body.partials,
  ])
  return [...new Map(all.map((one) => [`${one.id}/${one.version}`, one])).values()]
}

/** What the linter says of a prompt; tags are no placeholders that somebody forgot to fill. */
const weaknesses = (
  { tools, response_format: format }: Pick<Draft, 'tools' | 'response_format'>,
  content: Content,
) =>
  lint(
    {
      model: '',
      messages: messagesOf(content).map(({ role, content }) => ({ role, content })),
      ...(tools && { tools: tools as unknown as Tool[] }),
      ...(format && { response_format: format as unknown as ResponseFormat }),
    },
    { placeholder: 'off' },
    { max_system_tokens: longestSystem },
  ).map(({ rule, at, message }) => ({ rule, at, message }))

const refused = (what: string) => badRequest(`body content: ${what}.`, { param: 'content' })
