import { access, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'

/** Files of plugins that other programs read, such as logs: a folder in the data folder for each plugin and its bindings. */
export class PluginFiles {
  readonly #root: string

  constructor(dataDir: string) {
    this.#root = path.join(dataDir, 'files')
  }

  /** Creates the folder of a plugin, which only the gateway's own user can enter, and returns its path. */
  async folder({ id }: { readonly id: string }): Promise<string> {
    const folder = this.#of(id)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return folder
  }

  /** Deletes the folder of a plugin; whether there was one. */
  async erase(id: string): Promise<boolean> {
    const folder = this.#of(id)
    const exists = await access(folder).then(
      () => true,
      () => false,
    )
    await rm(folder, { recursive: true, force: true })
    return exists
  }

  readonly #of = (id: string): string => path.join(this.#root, id.split('/')[0]!)
}
