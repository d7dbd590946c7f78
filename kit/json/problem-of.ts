import type { z } from 'zod'
import { nearest } from '../text/nearest.ts'
import { shortened } from '../text/shortened.ts'
import { jsonSchemaOf } from './json-schema.ts'

interface Issue {
  readonly message: string
  readonly path?: readonly PropertyKey[]
  /** Of a value that may have several forms: for each, why it does not. */
  readonly errors?: readonly (readonly Issue[])[]
}

/** Characters of a problem, and unknown keys that others are looked for: what a client sends may have thousands, of any length. */
const most = { characters: 1000, keys: 20 }

/** The problem of a field, as text for its author; an absent field is called missing. */
export const problemOf: ({ message }: { readonly message: string }) => string = (issue: Issue) =>
  shortened(missing(ofForms(issue)), most.characters)

const missing = (text: string): string =>
  text.replace(/^Invalid input: (expected .+), received undefined$/, 'it is missing: $1')

/** A value of several forms: what is wrong inside it where it has one of them, or else which there are. */
function ofForms({ message, errors = [] }: Issue): string {
  if (message !== 'Invalid input') return message
  const firsts = errors.flatMap(([first]) => first ?? [])
  const inside = firsts.filter(({ path = [] }) => path.length > 0)
  const [place, ...others] = new Set(inside.map(({ path = [] }) => path.join('.')))
  if (others.length > 0) return message
  return place === undefined ? together(firsts) : `${place}: ${missing(together(inside))}`
}

/** What is wrong by each form of one value, in a sentence. */
function together(issues: readonly Issue[]): string {
  const texts = issues.map(ofForms)
  const kinds = texts.map((text) => wanted.exec(text))
  // It has this form, and another fault.
  const nearest = texts.find((_, i) => !kinds[i])
  if (nearest !== undefined || texts.length === 1) return nearest ?? texts[0]!
  const forms = new Set(kinds.flatMap((kind) => kind?.[1]?.split(' or ') ?? []))
  const received = kinds.find((kind) => kind?.[2])?.[2] ?? ''
  return forms.size === 0 ? 'Invalid input' : `Invalid input: expected ${[...forms].join(' or ')}${received}`
}

const wanted = /^Invalid (?:input|option): expected (.+?)(, received \w+)?$/

interface Node {
  readonly properties?: Readonly<Record<string, Node>>
  readonly items?: Node
  readonly additionalProperties?: Node
}

/** For keys that a schema does not have, its nearest ones, as the end of a message; nothing where none is near. */
export function nearestKeys(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): string {
  const near = issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return []
    const at = issue.path.reduce<Node | undefined>(
      (node, key) => node?.items ?? node?.properties?.[String(key)] ?? node?.additionalProperties,
      jsonSchemaOf(schema) as Node | undefined,
    )
    return issue.keys
      .slice(0, most.keys)
      .flatMap((key) => nearest(key, Object.keys(at?.properties ?? {})).slice(0, 1))
  })
  return near.length > 0 ? `; the nearest known is ${near.join(', ')}` : ''
}
