import { tooLarge } from '../errors.ts'
import type { Node } from './parse.ts'

/** Characters of a filled template, and steps to fill it: sections can repeat without a text. */
export const most = { characters: 400_000, steps: 100_000 }

type Fields = Readonly<Record<string, unknown>>

/**
 * Fills templates with values. It reads own fields of plain data only, calls nothing, and stops before a text is larger than it
 * may be. What a reached tag does not find is collected in `missing`, for all texts that one filling makes.
 */
export class Filling {
  readonly missing = new Set<string>()
  readonly #isOptional: (name: string) => boolean
  readonly #values: Fields
  readonly #at: string
  #characters = 0
  #steps = 0

  /** `isOptional` says of the first name of a path whether nothing needs to be found for it; `at` is the field of the values. */
  constructor(values: Fields, isOptional: (name: string) => boolean, at: string) {
    this.#values = values
    this.#at = at
    this.#isOptional = isOptional
  }

  text(nodes: readonly Node[]): string {
    const parts: string[] = []
    this.#fill(nodes, [this.#values], parts)
    return parts.join('')
  }

  /** What a path stands for itself, whatever its type. */
  value(path: readonly string[]): unknown {
    return this.#valueOf(path, [this.#values])
  }

  #fill(nodes: readonly Node[], scopes: readonly unknown[], parts: string[]): void {
    for (const node of nodes) {
      this.#step()
      if (node.kind === 'text') this.#add(node.text, parts)
      else if (node.kind === 'value') this.#add(shown(this.#valueOf(node.path, scopes)), parts)
      else if (node.kind === 'section') this.#section(node, scopes, parts)
    }
  }

  #section(
    { path, inverted, nodes }: Extract<Node, { kind: 'section' }>,
    scopes: readonly unknown[],
    parts: string[],
  ): void {
    const value = this.#valueOf(path, scopes)
    const isEmpty = !value || (Array.isArray(value) && value.length === 0)
    if (inverted) {
      if (isEmpty) this.#fill(nodes, scopes, parts)
    } else if (Array.isArray(value)) {
      for (const item of value) {
        this.#step()
        this.#fill(nodes, [...scopes, item], parts)
      }
    } else if (!isEmpty) {
      this.#fill(nodes, value === true ? scopes : [...scopes, value], parts)
    }
  }

  #valueOf(path: readonly string[], scopes: readonly unknown[]): unknown {
    const [first, ...rest] = path
    if (first === undefined) return scopes.at(-1)
    let value = own(
      scopes.findLast((scope) => own(scope, first) !== undefined),
      first,
    )
    for (const name of rest) value = own(value, name)
    if (value === undefined && !this.#isOptional(first)) this.missing.add(path.join('.'))
    return value
  }

  #step(): void {
    this.#steps += 1
    if (this.#steps > most.steps) throw tooMuch(this.#at)
  }

  #add(text: string, parts: string[]): void {
    this.#characters += text.length
    if (this.#characters > most.characters) throw tooMuch(this.#at)
    parts.push(text)
  }
}

/** A field of plain data; undefined where it has no such field itself. */
const own = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? (value as Fields)[name]
    : undefined

/** Texts, numbers and booleans as they are; lists and objects as JSON. */
const shown = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const tooMuch = (param: string) =>
  tooLarge(`The filled template has more than ${most.characters} characters, or too many repeated parts.`, {
    param,
  })
