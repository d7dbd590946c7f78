import type { Collection, Engine, StoredPart } from '../../storage/index.ts'
import { idPattern } from '../discovery/manifest-file.ts'
import type { PluginFiles } from './plugin-files.ts'
import type { StoredSetting } from './setting.ts'

/** The namespace of the store in which every plugin has its own. */
export const storeOfPlugins = 'plugins'

/** The name of a plugin's part of the store: ids have no underscore, so none of a binding is another plugin's. */
export const storeName = (id: string): string => id.replace('/', '_')

/** What plugins have stored, their files included, by their ids. The caller makes sure that no plugin with the id exists or appears meanwhile. */
export class PluginData {
  readonly #engine: Pick<Engine, 'contents' | 'erase'>
  readonly #settings: Collection<StoredSetting>
  readonly #files: PluginFiles

  constructor(
    engine: Pick<Engine, 'contents' | 'erase'>,
    settings: Collection<StoredSetting>,
    files: PluginFiles,
  ) {
    this.#engine = engine
    this.#settings = settings
    this.#files = files
  }

  /** The stored data of a plugin and its bindings; paths begin with the plugin's name, or with that, `_` and the binding's. */
  async stored(id: string): Promise<StoredPart[]> {
    if (!idPattern.test(id)) return []
    const found = await Promise.all(prefixesOf(id).map((prefix) => this.#engine.contents(prefix)))
    return found.flat().map((part) => ({ ...part, path: part.path.slice(storeOfPlugins.length + 1) }))
  }

  /** Erases that; whether there was anything. */
  async erase(id: string): Promise<boolean> {
    if (!idPattern.test(id)) return false
    const isStored = (await this.stored(id)).length > 0
    if (isStored) for (const prefix of prefixesOf(id)) await this.#engine.erase(prefix)
    const hadFiles = await this.#files.erase(id)
    return isStored || hadFiles
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
