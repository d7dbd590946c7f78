import { isDeepStrictEqual } from 'node:util'
import { badRequest, type Forms } from '#kernel'
import { refuseChannelKeys } from './channel-keys.ts'
import type { VersionRow } from './shapes.ts'

type Values = Readonly<Record<string, string | number | boolean>>

interface SecretFields {
  /** A secret of service.yaml may be named in their place. */
  readonly named: readonly string[]
  /** They are set by an admin alone. */
  readonly own: readonly string[]
}

/** The fields of forms that may be secret. */
const secretFields: Readonly<Record<string, SecretFields>> = {
  providers: { named: ['api_key'], own: ['keys', 'headers'] },
  webhooks: { named: ['routing_key'], own: ['headers'] },
}

type Form = Readonly<Record<string, unknown>>

/** Each form that may have secrets, with these fields. */
const secretForms = (content: Forms) =>
  Object.entries(secretFields).flatMap(([section, { named, own }]) =>
    Object.entries(content[section] ?? {}).map(([key, form]) => ({
      section,
      key,
      form: (form ?? {}) as Form,
      named,
      own,
    })),
  )

/** Throws a bad request for content that has a secret itself. */
export function refuseSecrets(content: Forms): void {
  refuseChannelKeys(content)
  for (const { section, key, form, named, own } of secretForms(content)) {
    const at = (field: string): string => `content.${section}.${key}.${field}`
    for (const field of own)
      if (form[field] !== undefined)
        throw badRequest(
          `${at(field)}: they may be secret, and are set for the ${section.slice(0, -1)} itself.`,
          {
            param: at(field),
          },
        )
    for (const field of named)
      if (form[field] !== undefined && secretOf(form[field]) === undefined)
        throw badRequest(
          `${at(field)}: no key is kept here; write {"secret": "NAME"}, a secret of service.yaml.`,
          {
            param: at(field),
          },
        )
  }
}

/**
 * The part of content that can be judged before it is installed: without forms that variables fill, without webhooks that need a
 * secret, and without forms of plugins that `isHere` does not know, which may be elsewhere. Every section is in it.
 */
export function judgeable(
  { content, variables }: Pick<VersionRow, 'content' | 'variables'>,
  isHere: (plugin: string) => boolean,
): Forms {
  const blanks = Object.fromEntries(Object.keys(variables).map((name) => [name, '']))
  const isFixed = (form: unknown): boolean => isDeepStrictEqual(withValues(form, blanks), form)
  const isKnown = (section: string, key: string): boolean =>
    !ofPlugins.has(section) || isHere(key.split('/')[0]!)
  const lacks = (section: string, form: unknown): boolean =>
    section === 'webhooks' && secretOf((form as Form | null)?.routing_key) !== undefined
  const kept = Object.entries(content).map(([section, forms]) => [
    section,
    Object.fromEntries(
      Object.entries(forms).filter(
        ([key, form]) => isFixed(form) && isKnown(section, key) && !lacks(section, form),
      ),
    ),
  ])
  return filled(Object.fromEntries(kept) as Forms, {}, {})
}

/** Sections whose keys are plugins, and bindings of modules. */
const ofPlugins: ReadonlySet<string> = new Set(['modules', 'bindings', 'plugins'])

/** The names of the secrets that a version needs. */
export const secretsOf = ({ content, requires }: Pick<VersionRow, 'content' | 'requires'>): string[] => [
  ...new Set([
    ...(requires.secrets ?? []),
    ...secretForms(content).flatMap(({ form, named }) =>
      named.flatMap((field) => secretOf(form[field]) ?? []),
    ),
  ]),
]

/** The values of a version's variables, and the names of those that have none. Throws a bad request for one that it has not. */
export function valuesOf(
  { variables }: Pick<VersionRow, 'variables'>,
  given: Values,
): { readonly values: Values; readonly missing: string[] } {
  for (const name of Object.keys(given))
    if (!Object.hasOwn(variables, name))
      throw badRequest(`The pack has no variable ${name}.`, { param: `variables.${name}` })
  const defaults = Object.entries(variables).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  const values = { ...Object.fromEntries(defaults), ...given }
  return { values, missing: Object.keys(variables).filter((name) => !Object.hasOwn(values, name)) }
}

/** Content with values and secrets in place. A secret that is not there is left out, as its field then stays as it is. */
export function filled(content: Forms, values: Values, secrets: Readonly<Record<string, string>>): Forms {
  const forms = withValues(content, values) as Record<string, Record<string, unknown>>
  for (const { section, key, form, named } of secretForms(forms)) {
    const all = named.flatMap((field) => {
      const name = secretOf(form[field])
      return name === undefined
        ? []
        : [[field, Object.hasOwn(secrets, name) ? secrets[name] : undefined] as const]
    })
    if (all.length === 0) continue
    const there = Object.fromEntries(all.filter(([, secret]) => secret !== undefined))
    const rest = Object.entries(form).filter(([field]) => !all.some(([one]) => one === field))
    forms[section]![key] = { ...Object.fromEntries(rest), ...there }
  }
  return forms
}

/** A text that is one variable alone becomes its value, a number too. */
function withValues(value: unknown, values: Values): unknown {
  if (typeof value === 'string') return textWith(value, values)
  if (Array.isArray(value)) return value.map((item) => withValues(item, values))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withValues(inner, values)]))
}

const mark = /\{\{\s*([a-z][a-z0-9_]{0,63})\s*\}\}/g
const alone = /^\{\{\s*([a-z][a-z0-9_]{0,63})\s*\}\}$/

function textWith(text: string, values: Values): string | number | boolean {
  const [, only = ''] = alone.exec(text) ?? []
  if (Object.hasOwn(values, only)) return values[only]!
  return text.replace(mark, (found, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : found,
  )
}

function secretOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { secret, ...rest } = value as Readonly<Record<string, unknown>>
  return typeof secret === 'string' && Object.keys(rest).length === 0 ? secret : undefined
}
