import { closest } from 'fastest-levenshtein'
import { type Config, ConfigError } from '../config/config.ts'
import { readSections, type SectionOwner } from '../config/sections.ts'
import { inTime, setupLimit } from '../kernel/discovery/in-time.ts'
import { load } from '../kernel/discovery/loader.ts'
import type { Discovered } from '../kernel/discovery/manifest.ts'
import { bindingId, bindingName } from '../kernel/plugin/plugin-record.ts'
import { type SettingChange, settingChange } from '../kernel/plugin/setting.ts'

/**
 * The settings in the file of plugins by id, and of bindings by `module/name`. Rejects with a ConfigError for entries that nothing
 * would ever read: a guard with a misspelt name must not be missed in silence.
 */
export async function configuredPlugins(
  config: Pick<Config, 'modules' | 'sections' | 'source' | 'plugins'>,
  found: readonly Discovered[],
): Promise<Record<string, SettingChange>> {
  const owners = await sectionOwners(found, config.plugins.setupTimeout)
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
function sectionOwners(found: readonly Discovered[], setupMs: number): Promise<SectionOwner[]> {
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
