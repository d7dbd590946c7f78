import { missingFolders } from '../../../gateway/discovery/discovery.ts'
import { load } from '../../../kernel/discovery/loader.ts'
import { type Discovered, explain } from '../../../kernel/discovery/manifest.ts'
import { effective, type SettingChange } from '../../../kernel/plugin/setting.ts'
import { type Check, failed, ok, warning } from './result.ts'

/** Whether the folders of plugins are there, and every plugin can be read and loaded, and takes the file's settings. */
export async function checkPlugins(
  found: readonly Discovered[],
  configured: Readonly<Record<string, SettingChange>>,
  folders: readonly string[],
): Promise<Check[]> {
  const problems = await Promise.all(found.map((item) => problemOf(item, configured[item.id])))
  const broken = problems.flatMap((problem, i) =>
    problem === undefined ? [] : [failed('plugins', `${found[i]!.id}: ${problem}`)],
  )
  const count = (kind: string): number => found.filter(({ manifest }) => manifest?.kind === kind).length
  const summary = `${count('module')} modules, ${count('provider')} providers, ${count('area')} areas found.`
  const missing = (await missingFolders(folders)).map((folder) =>
    warning('plugins', `plugin_dirs: the folder ${folder} does not exist.`),
  )
  return [ok('plugins', summary), ...missing, ...broken]
}

async function problemOf(item: Discovered, change: SettingChange | undefined): Promise<string | undefined> {
  const { manifest, problem, entry } = item
  if (!manifest || problem !== undefined) return problem ?? 'it has no manifest'
  if (!entry) return undefined
  try {
    const { settings } = await load(entry)
    const { error } = settings.safeParse(effective(manifest, change).config)
    return error && `modules.${item.id}.config: ${explain(error)}`
  } catch (error) {
    return explain(error)
  }
}
