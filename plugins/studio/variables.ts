import { z } from 'zod'
import { badRequest } from '#kernel'
import { type MustacheNode, mustacheNames } from '#kit'

const types = ['string', 'number', 'boolean', 'array', 'object'] as const

/** What the author of a template says about a variable. */
export const declaredVariable = z.strictObject({
  name: z.string().min(1).max(64),
  type: z.enum(types).nullish().meta({ description: 'Null for any value.' }),
  required: z.boolean().optional().meta({
    description:
      'Whether a call without it is refused if a tag asks for it. By default, whether a tag shows it that no section over it surrounds, and it has no default.',
  }),
  default: z.unknown().optional().meta({ description: 'The value for calls that give none.' }),
  description: z.string().max(1000).optional(),
})

/** A variable of a version. */
export const variable = z.object({
  name: z.string(),
  type: z.enum(types).nullable(),
  required: z.boolean(),
  default: z.unknown().optional(),
  description: z.string().optional(),
})

export type DeclaredVariable = z.infer<typeof declaredVariable>
export type Variable = z.infer<typeof variable>
/** The values of a call, by the names of the variables. */
export type Values = Readonly<Record<string, unknown>>

/** The variables of a text, with what is said about them. Refuses words about a name that it does not have. */
export function variablesOf(
  nodes: readonly MustacheNode[],
  declared: readonly DeclaredVariable[],
): Variable[] {
  const said = new Map(declared.map((one) => [one.name, one]))
  if (said.size < declared.length) throw wrong('a variable is described twice')
  const holders = declared.filter(({ type }) => type === 'array' || type === 'object')
  const uses = mustacheNames(nodes, new Set(holders.map(({ name }) => name)))
  const all = mustacheNames(nodes)
  const names = [...all.keys()].filter((name) => uses.has(name) || said.has(name))
  const unknown = [...said.keys()].filter((name) => !all.has(name))
  if (unknown.length > 0) throw wrong(`no tag has the name ${unknown.join(', ')}`)
  return names.map((name) => {
    const { type = null, required, default: value, description } = said.get(name) ?? {}
    if (value !== undefined && type && !fits(value, type)) throw wrong(`the default of ${name} is no ${type}`)
    return {
      name,
      type,
      required: required ?? (value === undefined && (uses.get(name)?.isShown ?? false)),
      ...(value !== undefined && { default: value }),
      ...(description !== undefined && { description }),
    }
  })
}

/**
 * The values to fill a template with: those that are given in the field `at`, and the defaults. Refuses others than the template
 * has, and wrong types.
 */
export function valuesOf(variables: readonly Variable[], given: Values, at: string): Values {
  const names = new Set(variables.map(({ name }) => name))
  const unknown = Object.keys(given).filter((name) => !names.has(name))
  if (unknown.length > 0)
    throw badRequest(
      `The template has no variables of the names ${listOf(unknown)}; it has ${listOf([...names]) || 'none'}.`,
      { param: at },
    )
  const values = new Map<string, unknown>()
  for (const { name, type, default: usual } of variables) {
    const value = Object.hasOwn(given, name) ? given[name] : usual
    if (value === undefined) continue
    if (type && !fits(value, type))
      throw badRequest(`The variable ${name} is no ${type}.`, { param: `${at}.${name}` })
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

/** Refuses a call that left out what the template needs. */
export const missing = (names: Iterable<string>, at: string) => {
  const list = [...names]
  return badRequest(`The template needs values for ${listOf(list)}.`, {
    param: at,
    details: { missing: list.slice(0, mostNamed) },
  })
}

/** Names that a refusal tells. */
const mostNamed = 100

const listOf = (names: readonly string[]): string =>
  names
    .slice(0, mostNamed)
    .map((name) => name.slice(0, 64))
    .join(', ')

function fits(value: unknown, type: (typeof types)[number]): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value)
  return typeof value === type
}

const wrong = (what: string) => badRequest(`body variables: ${what}.`, { param: 'variables' })
