import { stat } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { closest } from 'fastest-levenshtein'
import { type Config, ConfigError } from '../../config/config.ts'
import { readSections, type SectionOwner } from '../../config/sections.ts'
import { inTime, setupLimit } from './in-time.ts'
import { load } from './loader.ts'
import { type Discovered, discover } from './manifest.ts'
import { installedPackages } from './packages/installed.ts'
import { findPackage, foldersIn, readFolder } from './plugin-folder.ts'
import { bindingId, bindingName } from './records.ts'
import { type SettingChange, settingChange } from './setting.ts'
import type { Stage } from './staging/stage.ts'

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

/** The gateway's own. */
export async function ownPlugins(): Promise<Discovered[]> {
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

/**
 * The settings in the file of plugins by id, and of bindings by `module/name`. Throws a ConfigError for entries that nothing
 * would ever read: a guard with a misspelt name must not be missed in silence.
 */
export function configuredPlugins(
  config: Pick<Config, 'modules' | 'sections' | 'source'>,
  found: readonly Discovered[],
  owners: readonly SectionOwner[],
): Record<string, SettingChange> {
  const { modules } = config
  const ids = found.map(({ id }) => id)
  const changes: Record<string, SettingChange> = {}
  const problems: string[] = []
  const read = (id: string, at: readonly string[], entry: unknown): void => {
    const { data, error } = settingChange.safeParse(entry)
    if (data) changes[id] = data
    for (const issue of error?.issues ?? [])
      problems.push(`${[...at, ...issue.path].join('.')}: ${issue.message}`)
  }
  for (const [id, { bindings = {}, ...entry }] of Object.entries(modules)) {
    if (!ids.includes(id)) {
      problems.push(`modules.${id}: unknown module; the nearest is ${closest(id, ids)}`)
      continue
    }
    read(id, ['modules', id], entry)
    for (const [name, binding] of Object.entries(bindings)) {
      const at = ['modules', id, 'bindings', name]
      const issue = bindingName.safeParse(name).error?.issues[0]
      if (issue) problems.push(`${at.join('.')}: a binding's name ${issue.message}`)
      read(bindingId(id, name), at, binding)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  for (const [id, values] of readSections(config, owners)) changes[id] = { config: { ...values } }
  return changes
}

/** The plugins that keep sections of service.yaml, with the settings that these are. `setupMs` is the configuration's limit. */
export function sectionOwners(found: readonly Discovered[], setupMs: number): Promise<SectionOwner[]> {
  const owners = found.flatMap((plugin) => {
    const { id, manifest, entry, problem } = plugin
    return manifest && manifest.kind !== 'module' && manifest.sections.length > 0 && problem === undefined
      ? [{ id, sections: manifest.sections, entry, ms: setupLimit(plugin, setupMs) }]
      : []
  })
  return Promise.all(
    owners.map(async ({ id, sections, entry, ms }) => {
      const definition = entry
        ? await inTime(load(entry), ms, 'its import').catch(() => undefined)
        : undefined
      return { id, sections, settings: definition?.settings }
    }),
  )
}
