import type { Collection, Engine, StoredPart } from '../../storage/index.ts'
import { idPattern } from '../discovery/manifest.ts'
import type { StoredSetting } from './setting.ts'

/** The namespace of the store in which every plugin has its own. */
export const storeOfPlugins = 'plugins'

/** The name of a plugin's part of the store: ids have no underscore, so none of a binding is another plugin's. */
export const storeName = (id: string): string => id.replace('/', '_')

/** The stored data of plugins, by their ids. The caller makes sure that no plugin with the id exists or appears meanwhile. */
export class PluginData {
  readonly #engine: Pick<Engine, 'contents' | 'erase'>
  readonly #settings: Collection<StoredSetting>

  constructor(engine: Pick<Engine, 'contents' | 'erase'>, settings: Collection<StoredSetting>) {
    this.#engine = engine
    this.#settings = settings
  }

  /** The stored data of a plugin and its bindings; paths begin with the plugin's name, or with that, `_` and the binding's. */
  async stored(id: string): Promise<StoredPart[]> {
    if (!idPattern.test(id)) return []
    const found = await Promise.all(prefixesOf(id).map((prefix) => this.#engine.contents(prefix)))
    return found.flat().map((part) => ({ ...part, path: part.path.slice(storeOfPlugins.length + 1) }))
  }

  /** Erases that; whether there was anything. */
  async erase(id: string): Promise<boolean> {
    if ((await this.stored(id)).length === 0) return false
    for (const prefix of prefixesOf(id)) await this.#engine.erase(prefix)
    return true
  }

  /** Forgets what was set at runtime for it and its bindings; whether there was anything. */
  async forget(id: string): Promise<boolean> {
    const ids: string[] = []
    for await (const [own] of this.#settings.scan()) if (own === id || own.startsWith(`${id}/`)) ids.push(own)
    for (const own of ids) await this.#settings.delete(own)
    return ids.length > 0
  }
}

const prefixesOf = (id: string): string[] => [
  `${storeOfPlugins}/${storeName(id)}/`,
  `${storeOfPlugins}/${storeName(id)}_`,
]
