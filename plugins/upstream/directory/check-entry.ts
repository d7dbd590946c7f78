import { type Arrangement, badRequest, type Environment, type ProviderSpec } from '#kernel'
import { nearest } from '#kit'
import { providerOf } from './provider.ts'
import { problemsOf } from './provider-options.ts'
import type { RuntimeEntry } from './runtime-providers.ts'

type Running = Pick<Arrangement, 'protocols' | 'services'> & {
  readonly providers: ReadonlyMap<string, ProviderSpec>
}

interface Parts {
  readonly env: Environment
  readonly running: () => Running
}

/** Throws a bad request that names the field when an entry makes no provider that works. */
export function checkEntry(name: string, entry: RuntimeEntry, { env, running }: Parts): void {
  const { providers, protocols, services } = running()
  const provider = providerOf(name, entry, providers, env)
  if (!provider || !protocols.has(provider.protocol)) {
    const known = [...providers.keys(), ...protocols.keys()]
    const [near] = nearest(entry.type ?? name, known)
    const hint = near === undefined ? '' : ` The nearest is ${near}.`
    const what =
      entry.type === undefined ? 'Say in type which' : `There is no ${entry.type}: say in type which`
    throw badRequest(`${what} provider or protocol ${name} is like.${hint}`, { param: 'type' })
  }
  if (provider.baseUrl === '') throw badRequest(`${name} needs an address.`, { param: 'base_url' })
  const [problem] = problemsOf(provider, Object.keys(entry.options ?? {}), { protocols, services })
  if (problem !== undefined) throw badRequest(problem, { param: 'options' })
}
