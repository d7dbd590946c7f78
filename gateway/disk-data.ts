import { access, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { type StoredSetting, storedSetting } from '../config/setting.ts'
import { idPattern } from '../kernel/discovery/manifest.ts'
import { moduleOf, storeName, storeOfPlugins } from '../kernel/plugin/plugin-record.ts'
import type { PluginData } from '../kernel/services.ts'
import type { Collection, Engine, StoredPart } from '../storage/index.ts'

/** What plugins have on disk: in the store, as files that other programs read, such as logs, and as settings made at runtime. */
export class DiskData implements PluginData {
  readonly settings: Collection<StoredSetting>
  readonly #engine: Pick<Engine, 'contents' | 'erase'>
  readonly #files: string

  constructor(engine: Pick<Engine, 'contents' | 'erase' | 'namespace'>, dataDir: string) {
    this.settings = engine.namespace('kernel').collection('settings', { schema: storedSetting })
    this.#engine = engine
    this.#files = path.join(dataDir, 'files')
  }

  async folder({ id }: { readonly id: string }): Promise<string> {
    const folder = this.#folderOf(id)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return folder
  }

  async stored(id: string): Promise<StoredPart[]> {
    if (!idPattern.test(id)) return []
    const found = await Promise.all(prefixesOf(id).map((prefix) => this.#engine.contents(prefix)))
    return found.flat().map((part) => ({ ...part, path: part.path.slice(storeOfPlugins.length + 1) }))
  }

  async erase(id: string): Promise<boolean> {
    if (!idPattern.test(id)) return false
    const isStored = (await this.stored(id)).length > 0
    if (isStored) for (const prefix of prefixesOf(id)) await this.#engine.erase(prefix)
    const folder = this.#folderOf(id)
    const hadFiles = await access(folder).then(
      () => true,
      () => false,
    )
    await rm(folder, { recursive: true, force: true })
    return isStored || hadFiles
  }

  /** Forgets what was set at runtime for a plugin and its bindings; whether there was anything. */
  async forget(id: string): Promise<boolean> {
    const ids: string[] = []
    for await (const [own] of this.settings.scan()) if (own === id || own.startsWith(`${id}/`)) ids.push(own)
    for (const own of ids) await this.settings.delete(own)
    return ids.length > 0
  }

  /** Bindings share the folder of their module. */
  #folderOf(id: string): string {
    return path.join(this.#files, moduleOf(id))
  }
}

const prefixesOf = (id: string): string[] => [
  `${storeOfPlugins}/${storeName(id)}/`,
  `${storeOfPlugins}/${storeName(id)}_`,
]
