import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { closest } from 'fastest-levenshtein'
import { type Config, ConfigError } from './config.ts'
import { type Discovered, discover } from './manifest.ts'
import { type SettingChange, settingChange } from './setting.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Every plugin there is: the gateway's own, then those in the operator's folders. */
export async function discoverPlugins({ pluginDirs }: Pick<Config, 'pluginDirs'>): Promise<Discovered[]> {
  const found = await Promise.all([
    ...['modules', 'plugins'].map((folder) => discover(path.join(root, folder), 'builtin')),
    ...pluginDirs.map((folder) => discover(folder, 'local')),
  ])
  return found.flat()
}

/**
 * What the file says of plugins, by id. Throws a ConfigError for what nobody would ever read: a guard whose name is
 * misspelt must not be missed in silence.
 */
export function configuredPlugins(
  { modules }: Pick<Config, 'modules'>,
  found: readonly Discovered[],
): Record<string, SettingChange> {
  const ids = found.map(({ id }) => id)
  const changes: Record<string, SettingChange> = {}
  const problems: string[] = []
  for (const [id, entry] of Object.entries(modules)) {
    const { data, error } = settingChange.safeParse(entry)
    if (!ids.includes(id))
      problems.push(`modules.${id}: there is no such module; the nearest is ${closest(id, ids)}`)
    else if (error) {
      for (const issue of error.issues)
        problems.push(`modules.${[id, ...issue.path].join('.')}: ${issue.message}`)
    } else changes[id] = data
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return changes
}
