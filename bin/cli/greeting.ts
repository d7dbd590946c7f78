import type { Provider } from '../../contract/provider.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { type Directory, ProviderDirectory, RouteRules } from '../../plugins/upstream/kit/services.ts'
import { unusableEntries, unusableRoutes } from './unusable.ts'

/**
 * The greeting for a person at the terminal: the address, the running parts, and a first call to paste. Without the provider
 * directory, which only a fault keeps away, it names that fault and no call.
 */
export function greeting({ url, registry, newAdminKey, service }: Gateway, ms: number): string {
  const directory = service(ProviderDirectory)
  const modules = registry.plugins.filter(({ manifest }) => manifest?.kind === 'module')
  const on = modules.filter(({ instance }) => instance)
  const all = registry.plugins.flatMap((plugin) => [plugin, ...registry.bindings(plugin.id)])
  const broken = all.filter((plugin) => ['failed', 'invalid', 'waiting'].includes(registry.stateOf(plugin)))
  return [
    `Switchyard listens on ${url} (${Math.round(ms)} ms)`,
    ...(registry.find('dashboard')?.instance ? [`Dashboard: ${url}/dashboard`] : []),
    `Modules: ${on.length} of ${modules.length} on.`,
    ...(directory ? [providersOf(directory)] : []),
    ...broken.map(({ id, problem }) => `Not running: ${id}: ${problem}`),
    ...(directory ? unusableEntries(directory).map((problem) => `Not used: ${problem}`) : []),
    ...(directory
      ? unusableRoutes(directory, service(RouteRules)?.rules ?? []).map((problem) => `Not used: ${problem}`)
      : []),
    ...(directory ? [`Try: ${firstCall(url, newAdminKey ?? '<key>', modelFor(directory))}`] : []),
  ].join('\n')
}

function providersOf(directory: Directory): string {
  const ready = inUse(directory)
  if (ready.length > 0) return `Providers in use: ${ready.map(({ name }) => name).join(', ')}.`
  const without = mockOf(directory) ? 'the built-in mock answers' : 'model calls are refused'
  const variables = native(directory).flatMap(({ spec }) => spec.key_env.slice(0, 1))
  return `No provider has a key yet: ${without}. Set ${variables.join(' or ')}, or another's, and start again.`
}

/** A model that a provider in use answers for, else one of the mock's. */
function modelFor(directory: Directory): string {
  const ready = inUse(directory)
  for (const { name } of ready) {
    const known = directory.namesOf(name)[0]
    if (known !== undefined) return `${name}/${known}`
  }
  if (ready[0]) return `${ready[0].name}/<model>`
  const { name } = mockOf(directory) ?? {}
  return (name && directory.namesOf(name)[0]) ?? 'any'
}

const mockOf = ({ providers }: Directory): Provider | undefined => providers.find(({ spec }) => spec.fallback)

const inUse = ({ providers, unusable }: Directory): Provider[] =>
  providers.filter(({ name, configured, spec }) => configured && !spec.fallback && !unusable.includes(name))

/** Providers with a protocol of their own: the best known. */
const native = ({ providers }: Directory): Provider[] =>
  providers.filter(({ name, protocol, spec }) => name === protocol && !spec.fallback)

function firstCall(url: string, key: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] })
  return `curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`
}
