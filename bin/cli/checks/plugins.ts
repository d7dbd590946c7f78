import type { Config } from '../../../config/config.ts'
import { effective, type SettingChange } from '../../../config/setting.ts'
import { missingFolders } from '../../../gateway/discovery/discovery.ts'
import { load } from '../../../kernel/discovery/loader.ts'
import { type Discovered, setupLimit } from '../../../kernel/discovery/manifest.ts'
import { bindingId } from '../../../kernel/plugin/plugin-record.ts'
import { explain } from '../../../kit/explain.ts'
import { inTime } from '../../../kit/work/in-time.ts'
import { type Check, failed, ok, warning } from './result.ts'

/**
 * Whether the folders of plugins are there, and every plugin can be read and loaded as fast as a start demands it, and takes the
 * file's settings for itself and its bindings.
 */
export async function checkPlugins(
  found: readonly Discovered[],
  configured: Readonly<Record<string, SettingChange>>,
  { pluginDirs, plugins }: Pick<Config, 'pluginDirs' | 'plugins'>,
): Promise<Check[]> {
  const problems = await Promise.all(
    found.map((item) => problemsOf(item, configured, setupLimit(item, plugins.setupTimeout))),
  )
  const broken = problems.flatMap((some, i) =>
    some.map((problem) => failed('plugins', `${found[i]!.id}: ${problem}`)),
  )
  const count = (kind: string): number => found.filter(({ manifest }) => manifest?.kind === kind).length
  const summary = `${count('module')} modules, ${count('provider')} providers, ${count('area')} areas found.`
  const missing = (await missingFolders(pluginDirs)).map((folder) =>
    warning('plugins', `plugin_dirs: the folder ${folder} does not exist.`),
  )
  return [ok('plugins', summary), ...missing, ...broken]
}

async function problemsOf(
  { id, manifest, problem, entry }: Discovered,
  configured: Readonly<Record<string, SettingChange>>,
  limitMs: number,
): Promise<string[]> {
  if (!manifest || problem !== undefined) return [problem ?? 'it has no manifest']
  if (!entry) return []
  try {
    const { settings } = await inTime(load(entry), limitMs, 'its import')
    const refused = (at: string, change: SettingChange | undefined): string[] => {
      const { error } = settings.safeParse(effective(manifest, change).config)
      return error ? [`${at}.config: ${explain(error)}`] : []
    }
    const prefix = bindingId(id, '')
    const bindings = Object.entries(configured).filter(([at]) => at.startsWith(prefix))
    return [
      ...refused(`modules.${id}`, configured[id]),
      ...bindings.flatMap(([at, change]) =>
        refused(`modules.${id}.bindings.${at.slice(prefix.length)}`, change),
      ),
    ]
  } catch (error) {
    return [explain(error)]
  }
}
