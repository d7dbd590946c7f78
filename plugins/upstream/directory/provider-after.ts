import type { Forms, Registry } from '#kernel'
import type { ProviderEntries } from '../sections.ts'
import type { RuntimeProviders } from './runtime-providers.ts'

interface Parts {
  readonly configured: ProviderEntries
  readonly runtime: Pick<RuntimeProviders, 'isUnreadable'>
  readonly registry: Pick<Registry, 'find'>
  /** Whether a plugin that is switched on has a provider of that name. */
  readonly isPlugin: (name: string) => boolean
}

/** Whether there is a provider of a name once this is set: by a plugin that is on then, or by an entry that says what it is like. */
export function isProviderAfter(name: string, { plugins, providers }: Forms, parts: Parts): boolean {
  const { configured, runtime, registry, isPlugin } = parts
  const enabled = fieldOf(plugins, name, 'enabled')
  const isOn =
    typeof enabled === 'boolean' && registry.find(name)?.manifest?.kind === 'provider'
      ? enabled
      : isPlugin(name)
  const type = fieldOf(providers, name, 'type') ?? fieldOf(configured, name, 'type')
  const stays = providers !== undefined && Object.hasOwn(providers, name) && runtime.isUnreadable(name)
  return isOn || type !== undefined || stays
}

/** A field of one of several things by their names, any of which may be called as what every object has. */
function fieldOf(all: Readonly<Record<string, unknown>> | undefined, name: string, field: string): unknown {
  const one = all && Object.hasOwn(all, name) ? all[name] : undefined
  return typeof one === 'object' && one !== null && Object.hasOwn(one, field)
    ? (one as Readonly<Record<string, unknown>>)[field]
    : undefined
}
