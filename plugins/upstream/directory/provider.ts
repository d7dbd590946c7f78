import { hash } from 'node:crypto'
import {
  type Credential,
  type Environment,
  hintOf,
  type Provider,
  type ProviderSpec,
  providerSpec,
} from '#kernel'
import { isLocal, regionOf } from './place.ts'
import { type RuntimeEntry as Entry, isRuntime } from './runtime-providers.ts'

/**
 * A provider as its manifest, its entry in service.yaml and the environment make it; the environment wins over these, and
 * what was said at runtime over all. Undefined
 * when no manifest has that name and the entry names no provider that it is like.
 */
export function providerOf(
  name: string,
  entry: Entry | undefined,
  specs: ReadonlyMap<string, ProviderSpec>,
  env: Environment,
): Provider | undefined {
  const own = specs.get(name)
  const type = own ? undefined : entry?.type
  if (!own && type === undefined) return undefined
  const spec = own ?? likeness(type!, specs)
  const variable = isRuntime(entry, 'base_url') ? undefined : spec.base_url_env
  const address = variable === undefined ? undefined : env[variable] || undefined
  const options = optionsOf(spec, entry, env)
  const baseUrl = address ?? entry?.baseUrl ?? filled(spec.base_url ?? '', options)
  const { keys, keySource } = keysOf(name, spec, entry, env)
  const keyless = spec.key !== 'required' || (!own && entry?.baseUrl !== undefined)
  const wanted = entry !== undefined || address !== undefined || spec.key === 'none'
  return {
    name,
    spec: entry?.models ? { ...spec, models: [...entry.models] } : spec,
    protocol: spec.protocol,
    baseUrl: baseUrl.replace(/\/+$/, ''),
    headers: lowerCase({
      ...spec.headers,
      ...(entry?.orgId !== undefined && spec.org_header !== undefined && { [spec.org_header]: entry.orgId }),
      ...entry?.headers,
    }),
    options,
    keys,
    keySource,
    configured: (keys.length > 0 || (keyless && wanted)) && !baseUrl.includes('{'),
    priceId: spec.price_id ?? type ?? name,
    region: entry?.region ?? regionOf(options) ?? (entry?.baseUrl === undefined ? spec.region : undefined),
    local: isLocal(baseUrl, spec),
  }
}

function optionsOf(
  spec: ProviderSpec,
  entry: Entry | undefined,
  env: Environment,
): Readonly<Record<string, unknown>> {
  const set = Object.entries(spec.option_env).flatMap(([option, variables]) => {
    const value = variables.map((variable) => env[variable]).find((value) => value)
    return value === undefined ? [] : [[option, value] as const]
  })
  return { ...spec.options, ...entry?.options, ...Object.fromEntries(set), ...entry?.runtime?.options }
}

/** An address with options in the place of their names; a name without an option stays. */
const filled = (address: string, options: Readonly<Record<string, unknown>>): string =>
  address.replace(/\{(\w+)\}/g, (name, option: string) => {
    const value = options[option]
    return typeof value === 'string' && value !== '' ? encodeURIComponent(value) : name
  })

/** One spelling of each name, so that an entry's header replaces the same header of the manifest. */
const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** A provider of the operator's own is like the one it names, but for keys and models; or speaks that protocol. */
function likeness(type: string, specs: ReadonlyMap<string, ProviderSpec>): ProviderSpec {
  const like = specs.get(type)
  if (!like) return providerSpec.parse({ protocol: type })
  const { base_url_env: _, ...rest } = like
  return { ...rest, option_env: {}, key_env: [], models: [], fallback: false }
}

function keysOf(
  name: string,
  spec: ProviderSpec,
  entry: Entry | undefined,
  env: Environment,
): Pick<Provider, 'keys' | 'keySource'> {
  const isSet = isRuntime(entry, 'api_key', 'keys')
  const variables = isSet ? [] : spec.key_env
  const secret = variables.map((source) => variableOf(source, env)).find((value) => value)
  if (secret) return { keys: [credential(name, secret, 1)], keySource: 'environment' }
  const pool = entry?.keys ?? (entry?.apiKey ? [{ apiKey: entry.apiKey, weight: 1 }] : [])
  const keys = pool
    .filter(({ apiKey }) => apiKey !== '')
    .map(({ apiKey, weight }) => credential(name, apiKey, weight))
  return { keys, keySource: keys.length === 0 ? 'none' : isSet ? 'api' : 'config' }
}

/** A variable's value, or several put together; undefined where one that must be set is not. */
function variableOf(source: string, env: Environment): string | undefined {
  if (!source.includes('{')) return env[source]
  const names = [...source.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  if (names.some((name) => !env[name])) return undefined
  return source.replace(/\{(\w+)\??\}/g, (_, name: string) => env[name] ?? '')
}

/** A key of the operator's. Its id says nothing of it, and stays the same while the key does. */
function credential(provider: string, secret: string, weight: number): Credential {
  const id = `${provider}/${hash('sha256', secret).slice(0, 12)}`
  return { id, secret, hint: hintOf(secret), weight, owner: 'global' }
}
