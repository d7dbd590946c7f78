import type { Registry } from '../plugin/registry.ts'
import type { ProviderSpec } from './provider.ts'

/** Of all that are switched on, also when their code could not start: their calls must fail, not go elsewhere. */
export function providerSpecs(registry: Registry): Map<string, ProviderSpec> {
  return new Map(
    registry.plugins.flatMap(({ id, manifest, setting }) =>
      setting?.enabled && manifest?.kind === 'provider' && manifest.provider
        ? [[id, manifest.provider] as const]
        : [],
    ),
  )
}
