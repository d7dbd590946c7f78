import { z } from 'zod'
import { badRequest, hintOf } from '#kernel'
import { changed } from '#kit'
import { headerName } from './header-name.ts'

const name = z.string().min(1).max(256)

export const providerName = z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, {
  error: 'expected a name of lower-case letters, digits, - and _',
})

/** A key as a request can carry it, so that a line break at its end is told to who sends it and not to callers. */
export const keyText = z
  .string()
  .min(1)
  .regex(
    /^(?:[\x21-\x7e]+|\s*\{[\x20-\x7e\s]*\}\s*)$/,
    'must be printable ASCII without spaces or line breaks, or the JSON of a key that has parts',
  )
const operatorKey = keyText.max(20_000)

/** The settings of a provider that can be set at runtime, by their names in service.yaml. */
export const providerFields = {
  type: name.meta({ description: 'The provider whose protocol it speaks, or a protocol.' }),
  base_url: z
    .url({ protocol: /^https?$/ })
    .max(2048)
    .meta({ description: 'Address of its API.' }),
  api_key: operatorKey.meta({ description: 'The one key to use; it is never shown again.' }),
  keys: z
    .array(z.strictObject({ api_key: operatorKey, weight: z.number().min(0).default(1) }))
    .min(1)
    .max(100)
    .meta({ description: 'A pool of keys to share the calls among, instead of api_key.' }),
  org_id: name.meta({ description: 'The organisation to bill, where the provider knows organisations.' }),
  region: name.meta({ description: 'Where it runs models, such as eu.' }),
  models: z.array(name).max(1000).meta({ description: 'Which models it serves, as names or globs.' }),
  headers: z
    .record(
      headerName,
      z
        .string()
        .max(4000)
        .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'must be one line of Latin-1'),
    )
    .meta({ description: 'Headers to send with each call; they are never shown again.' }),
  options: z.record(z.string(), z.unknown()).meta({ description: 'What only this provider knows.' }),
}
/** What an admin says of a provider. */
export const said = z.strictObject(providerFields).partial()
export type ProviderSaid = z.output<typeof said>

/** What was said and is stored, maybe by a version that took other keys and headers. */
export const storedSaid = said.extend({
  api_key: z.string().optional(),
  keys: z.array(z.strictObject({ api_key: z.string(), weight: z.number() })).optional(),
  headers: z.record(z.string(), z.string()).optional(),
})

/** The fields that may hold secrets. Of headers and options it is not known which do. */
const secretFields = ['api_key', 'keys', 'headers', 'options'] as const

/** What is said without what may be secret. */
export const sharedOf = ({
  api_key: _,
  keys: _keys,
  headers: _headers,
  options: _options,
  ...rest
}: ProviderSaid) => rest

export const withheldOf = (given: ProviderSaid): string[] =>
  secretFields.filter((field) => given[field] !== undefined)

/**
 * What a form says, with the secrets of before that it does not have; null for one clears it. Throws a bad request that names the
 * field.
 */
export function saidBy(key: string, form: unknown, before: ProviderSaid = {}): ProviderSaid {
  changed({}, { name: key }, z.object({ name: providerName }))
  if (typeof form !== 'object' || form === null) throw badRequest('Expected an object.')
  const given = changed({}, form, said)
  if (given.api_key !== undefined && given.keys)
    throw badRequest('Send either api_key or keys, not both.', { param: 'keys' })
  const hasKeys = given.api_key !== undefined || given.keys !== undefined
  const { api_key, keys, headers, options } = before
  const held = Object.entries({ headers, options, ...(!hasKeys && { api_key, keys }) })
  const kept = held.filter(([field, value]) => value !== undefined && !isCleared(form, field))
  return { ...Object.fromEntries(kept), ...given }
}

const isCleared = (form: object, field: string): boolean =>
  (form as Readonly<Record<string, unknown>>)[field] === null

/** For the history: of keys their last characters, of headers and options their names. */
export function shownOf(open: () => ProviderSaid): unknown {
  try {
    const { api_key, keys, headers, options, ...rest } = open()
    const hints = (keys ?? (api_key === undefined ? [] : [{ api_key }])).map((one) => hintOf(one.api_key))
    return {
      ...rest,
      ...(hints.length > 0 && { keys: hints }),
      ...(headers && { headers: Object.keys(headers) }),
      ...(options && { options: Object.keys(options) }),
    }
  } catch {
    return 'encrypted with a key that is not known any more'
  }
}
