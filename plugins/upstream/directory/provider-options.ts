import type { z } from 'zod'
import type { Arrangement, Provider } from '#kernel'
import { nearest } from '#kit'
import type { Directory } from '../directory.ts'
import { type KeyExchange, keyExchange } from '../kit/key-exchange.ts'
import type { ProviderEntries } from '../sections.ts'

type Running = Pick<Arrangement, 'protocols' | 'services'>

/**
 * The problems of the `options` of providers' entries, a readable line for each: unknown names, and values that their readers
 * do not accept. Providers whose protocol is not switched on are skipped.
 */
export function optionProblems(entries: ProviderEntries, directory: Directory, running: Running): string[] {
  return Object.entries(entries).flatMap(([name, entry]) => {
    const provider = directory.find(name)
    if (!entry.options || !provider || !running.protocols.has(provider.protocol)) return []
    return problemsOf(provider, Object.keys(entry.options), running)
  })
}

/** The same for one provider whose options have these names. */
export function problemsOf(provider: Provider, written: readonly string[], running: Running): string[] {
  const { name, spec, options } = provider
  const readers = readersOf(provider, running)
  const known = new Set([
    ...readers.flatMap((reader) => Object.keys(reader.shape)),
    ...Object.keys(spec.options),
    ...Object.keys(spec.option_env),
    ...[...(spec.base_url ?? '').matchAll(/\{(\w+)\}/g)].map(([, option]) => option!),
  ])
  const unknown = written
    .filter((option) => !known.has(option))
    .map((option) => `providers.${name}.options.${option}: ${unknownOption(option, [...known])}`)
  return [...unknown, ...readers.flatMap((reader) => wrongValues(name, options, reader))]
}

/** The readers of a provider's options: its protocol and its key exchange. */
function readersOf({ protocol, spec }: Provider, { protocols, services }: Running): z.ZodObject[] {
  const exchange =
    spec.key_exchange === undefined
      ? undefined
      : (services.get(keyExchange(spec.key_exchange)) as KeyExchange | undefined)
  return [protocols.get(protocol)?.options, exchange?.options].filter((schema) => schema !== undefined)
}

function unknownOption(option: string, known: readonly string[]): string {
  if (known.length === 0) return 'this provider has no options'
  const [near] = nearest(option, known)
  return near === undefined ? 'unknown option' : `unknown option; the nearest known one is ${near}`
}

function wrongValues(name: string, options: Provider['options'], reader: z.ZodObject): string[] {
  const own = Object.fromEntries(Object.entries(options).filter(([option]) => option in reader.shape))
  const issues = reader.safeParse(own).error?.issues ?? []
  return issues.map(({ path, message }) => `providers.${name}.options.${path.join('.')}: ${message}`)
}
