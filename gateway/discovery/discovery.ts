import { stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../config/config.ts'
import type { Discovered } from '../../kernel/discovery/manifest.ts'
import type { Stage } from '../../staging/stage.ts'
import { installedPackages } from './installed.ts'
import { findPackage, foldersIn, readFolder } from './plugin-folder.ts'
import { discover } from './read.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

type Places = Pick<Config, 'pluginDirs' | 'plugins' | 'dataDir' | 'file'>

/**
 * Every plugin there is: the gateway's own, those in the operator's folders, then packages. With a stage, the code of
 * those from outside is their copy there; `again` names one whose import is to be tried afresh even if its content is
 * the same.
 */
export async function discoverPlugins(
  { pluginDirs, plugins, dataDir, file }: Places,
  stage?: Stage,
  again?: string,
): Promise<Discovered[]> {
  const base = file ? path.dirname(file) : process.cwd()
  const inFolders = (await Promise.all(pluginDirs.map(foldersIn))).flat()
  const outside = [
    // Beside the gateway's own data, as in `plugin_dirs: [.]`: that is no plugin, and far too much to read.
    ...inFolders.filter(({ folder }) => folder !== dataDir),
    ...(await Promise.all(plugins.packages.map((name) => findPackage(name, base)))),
    ...(await installedPackages(dataDir)),
  ]
  const found = await Promise.all([
    ownPlugins(),
    ...outside.map(async (place) => [await readFolder(place, stage, again === place.id)]),
  ])
  return withoutClashes(found.flat())
}

let own: Promise<readonly Discovered[]> | undefined

/** The gateway's own. They are read once, as their code is: what a process has imported stays as it was. */
export function ownPlugins(): Promise<readonly Discovered[]> {
  own ??= readOwn()
  return own
}

async function readOwn(): Promise<readonly Discovered[]> {
  const folders = ['modules', 'plugins'].map((folder) => discover(path.join(root, folder), 'builtin'))
  return (await Promise.all(folders)).flat()
}

/** The first of a name has it; later ones are listed under another, with the reason why they do not run. */
function withoutClashes(found: readonly Discovered[]): Discovered[] {
  const owners = new Map<string, Discovered[]>()
  return found.map((item) => {
    const same = owners.get(item.id) ?? []
    owners.set(item.id, [...same, item])
    const owner = same[0]
    if (!owner) return item
    const whose = owner.source === 'builtin' ? "the gateway's own" : owner.folder
    const problem = `there is already a plugin called ${item.id}: ${whose}; rename the folder and its id`
    return { ...item, id: `${item.id}~${same.length + 1}`, manifest: undefined, problem }
  })
}

/** The folders that are missing. */
export async function missingFolders(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(folders.map((folder) => stat(folder).catch(() => undefined)))
  return folders.filter((_, n) => !found[n]?.isDirectory())
}
