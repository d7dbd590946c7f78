import type { Plugin, Provider, Registry } from '#kernel'

interface App {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly version: string
  readonly source: Plugin['found']['source']
  readonly endpoints: number
}

interface Product {
  readonly id: string
  readonly kind: 'area' | 'modules' | 'providers'
  readonly title: string
  readonly description: string
  readonly total: number
  readonly enabled: number
}

/** The areas that run, as they present themselves. */
export function appsOf({ plugins }: Registry): App[] {
  return plugins.flatMap(({ id, manifest, found, instance }) => {
    if (manifest?.kind !== 'area' || !instance) return []
    const { title, description, version } = manifest
    const endpoints = instance.routes.length + instance.wires.length
    return [{ name: id, title, description, version, source: found.source, endpoints }]
  })
}

/** Areas, modules by the stage of the chain they stand in, outermost first, and providers. */
export function productsOf(registry: Registry, providers: readonly Provider[]): Product[] {
  const areas = appsOf(registry).map(({ name, title, description, endpoints }) => ({
    id: name,
    kind: 'area' as const,
    title,
    description,
    total: endpoints,
    enabled: endpoints,
  }))
  const categories = [...byStage(registry)].map(([stage, plugins]) => ({
    id: stage,
    kind: 'modules' as const,
    title: `Modules: ${stage}`,
    description: plugins.map(({ manifest }) => manifest?.title).join(', '),
    total: plugins.length,
    enabled: plugins.filter(({ instance }) => instance).length,
  }))
  const served = {
    id: 'providers',
    kind: 'providers' as const,
    title: 'Providers',
    description: providers.map(({ name }) => name).join(', '),
    total: providers.length,
    enabled: providers.filter(({ configured }) => configured).length,
  }
  return [...areas, ...categories, served]
}

function byStage({ places }: Registry): Map<string, Plugin[]> {
  const stages = Map.groupBy(places, ({ manifest }) => manifest.stage)
  return new Map([...stages].map(([stage, placed]) => [stage, placed.map(({ plugin }) => plugin)]))
}
