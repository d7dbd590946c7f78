import { isDeepStrictEqual } from 'node:util'
import { badRequest, type Forms } from '#kernel'
import type { VersionRow } from './shapes.ts'

type Values = Readonly<Record<string, string | number | boolean>>

/** Throws a bad request for content that has a secret itself. */
export function refuseSecrets(content: Forms): void {
  for (const [name, form] of Object.entries(content.providers ?? {})) {
    const { api_key, keys, headers } = (form ?? {}) as Readonly<Record<string, unknown>>
    const at = `content.providers.${name}`
    for (const [field, value] of Object.entries({ keys, headers }))
      if (value !== undefined)
        throw badRequest(`${at}.${field}: they may be secret, and are set for the provider itself.`, {
          param: `${at}.${field}`,
        })
    if (api_key !== undefined && secretOf(api_key) === undefined)
      throw badRequest(
        `${at}.api_key: no key is kept here; write {"secret": "NAME"}, a secret of service.yaml.`,
        {
          param: `${at}.api_key`,
        },
      )
  }
}

/**
 * The part of content that can be judged before it is installed: without forms that variables fill, and without those of plugins
 * that `isHere` does not know, which may be elsewhere. Every section is in it.
 */
export function judgeable(
  { content, variables }: Pick<VersionRow, 'content' | 'variables'>,
  isHere: (plugin: string) => boolean,
): Forms {
  const blanks = Object.fromEntries(Object.keys(variables).map((name) => [name, '']))
  const isFixed = (form: unknown): boolean => isDeepStrictEqual(withValues(form, blanks), form)
  const isKnown = (section: string, key: string): boolean =>
    !ofPlugins.has(section) || isHere(key.split('/')[0]!)
  const kept = Object.entries(content).map(([section, forms]) => [
    section,
    Object.fromEntries(Object.entries(forms).filter(([key, form]) => isFixed(form) && isKnown(section, key))),
  ])
  return filled(Object.fromEntries(kept) as Forms, {}, {})
}

/** Sections whose keys are plugins, and bindings of modules. */
const ofPlugins: ReadonlySet<string> = new Set(['modules', 'bindings', 'plugins'])

/** The names of the secrets that a version needs. */
export const secretsOf = ({ content, requires }: Pick<VersionRow, 'content' | 'requires'>): string[] => [
  ...new Set([
    ...(requires.secrets ?? []),
    ...Object.values(content.providers ?? {}).flatMap(
      (form) => secretOf((form as { api_key?: unknown } | null)?.api_key) ?? [],
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
  for (const [name, form] of Object.entries(forms.providers ?? {})) {
    const { api_key, ...rest } = (form ?? {}) as Readonly<Record<string, unknown>>
    const secret = secretOf(api_key)
    if (secret === undefined) continue
    const key = Object.hasOwn(secrets, secret) ? secrets[secret] : undefined
    forms.providers![name] = { ...rest, ...(key !== undefined && { api_key: key }) }
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
