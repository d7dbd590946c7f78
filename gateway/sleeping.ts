import { moduleOf, storeOfPlugins } from '../kernel/plugin/plugin-record.ts'
import type { Registry } from '../kernel/plugin/registry.ts'
import type { Engine } from '../storage/index.ts'

/** The stored data of plugins and bindings that do not run. */
export interface Sleeping {
  /** Their ids; that of a binding also when it was removed. */
  readonly ids: readonly string[]
  /** The names of what no plugin here can be asked about, because it is gone. */
  readonly unclaimed: readonly string[]
}

/** Finds who has something in the store and does not run. */
export async function sleepingOf(
  registry: Pick<Registry, 'find'>,
  engine: Pick<Engine, 'contents'>,
): Promise<Sleeping> {
  const parts = await engine.contents(`${storeOfPlugins}/`)
  const ids: string[] = []
  const unclaimed: string[] = []
  for (const name of new Set(parts.map(({ path }) => path.split('/')[1]!))) {
    const id = name.replace('_', '/')
    const owner = registry.find(moduleOf(id))
    const plugin = registry.find(id)
    if (plugin?.instance) continue
    if (plugin || (id.includes('/') && owner?.manifest?.kind === 'module')) ids.push(id)
    else unclaimed.push(name)
  }
  return { ids, unclaimed }
}
