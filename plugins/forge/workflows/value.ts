import { z } from 'zod'
import { Filling, type MustacheNode, parseForeign, parseMustache } from '#kit'
import { StepFault } from '../steps/fault.ts'

/** JSON whose texts are Mustache. A text that is nothing but one tag stands for the value itself, whatever its type. */
export type Value = string | number | boolean | null | Value[] | { [name: string]: Value }

/** Any JSON: what comes in a body is nothing else. */
export const value = z
  .custom<Value>((value) => value !== undefined, 'is missing')
  .meta({
    description: 'JSON with Mustache in its texts; a text that is one tag stands for the value itself.',
  })

/** A text in Mustache. */
export const text = z.string().max(50_000).meta({ description: 'A text in Mustache.' })

/** What the tags of a step can show, by their first names. */
export type Scope = Readonly<Record<string, unknown>>

/** A text with its tags filled. Throws a `StepFault` that names what is not there. */
export const filled = (template: string, scope: Scope): string => {
  const filling = new Filling(scope, () => false, 'steps')
  return checked(filling, filling.text(parseMustache(template, 'steps')))
}

/** Bytes of JSON of all that the steps of a run put out, and of any value that is put together. */
export const mostOfRun = 20_000_000

/**
 * A value with its tags filled. Throws a `StepFault` as soon as what its tags show has more bytes of JSON than it may,
 * since a short list of tags can show a long value any number of times. A lone tag adds nothing to what is there.
 */
export function valued(template: Value, scope: Scope, most = mostOfRun): Value {
  if (typeof template === 'string') return one(template, scope)
  let bytes = 0
  return withTexts(template, (text) => {
    const shown = one(text, scope)
    bytes += bytesOf(shown)
    if (bytes > most) throw tooLarge('A value', most)
    return shown
  })
}

/** Bytes of the JSON of a value. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value ?? null))

/** The failure of a step for what has more bytes than it may. */
export const tooLarge = (what: string, most: number): StepFault =>
  new StepFault('too_large', `${what} may have ${most} bytes.`)

/** Whether all that the tags of a value show is there, and it is not null. */
export function isThere(template: Value, scope: Scope, most: number): boolean {
  try {
    return valued(template, scope, most) !== null
  } catch (error) {
    if (error instanceof StepFault && error.code === 'missing_value') return false
    throw error
  }
}

/** The value of JSON that a model or a service wrote. */
export function parsed(json: string): Value {
  try {
    return parseForeign(json) as Value
  } catch {
    throw new StepFault('output_invalid', 'What came is no JSON.', { mayPass: true })
  }
}

/** The nodes of each text in a value, with the path to it. */
export function* textsIn(
  template: unknown,
  at: string,
): Iterable<{ nodes: readonly MustacheNode[]; at: string }> {
  if (typeof template === 'string') yield { nodes: parseMustache(template, at), at }
  else if (typeof template === 'object' && template !== null)
    for (const [name, inner] of Object.entries(template)) yield* textsIn(inner, `${at}.${name}`)
}

function withTexts(template: Value, fill: (text: string) => Value): Value {
  if (typeof template === 'string') return fill(template)
  if (Array.isArray(template)) return template.map((item) => withTexts(item, fill))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([name, item]) => [name, withTexts(item, fill)]))
}

function one(template: string, scope: Scope): Value {
  const [node, ...more] = parseMustache(template, 'steps')
  if (node?.kind !== 'value' || more.length > 0) return filled(template, scope)
  const filling = new Filling(scope, () => false, 'steps')
  return checked(filling, filling.value(node.path)) as Value
}

function checked<T>({ missing }: Filling, value: T): T {
  if (missing.size === 0) return value
  throw new StepFault('missing_value', `There is no value for ${[...missing].slice(0, 10).join(', ')}.`)
}
