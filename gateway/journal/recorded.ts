import type { StoredSetting } from '../../config/setting.ts'
import type { SectionValue } from '../../kernel/contract/section.ts'
import type { PluginNews } from '../../kernel/plugin/change.ts'
import type { ConfigChange } from '../../kernel/plugin/journal.ts'
import type { Plugin, Plugins } from '../../kernel/plugin/plugin-record.ts'
import type { Transaction as Batch, Collection } from '../../storage/index.ts'

function sectionOf(plugin: Plugin | undefined, id: string): string {
  if (id.includes('/')) return 'bindings'
  return plugin?.manifest?.kind === 'module' ? 'modules' : 'plugins'
}

/** A stored setting as the journal has it: when it was set, its entry says. */
function recorded(row: StoredSetting | undefined): unknown {
  if (!row) return null
  const { updated_at: _, ...said } = row
  return said
}

/** Writes settings; returns what changed. */
export function writeRows(
  batch: Batch,
  settings: Collection<StoredSetting>,
  rows: ReadonlyMap<string, StoredSetting | undefined>,
  find: (id: string) => Plugin | undefined,
): ConfigChange[] {
  return Array.from(rows, ([key, row]) => {
    const before = recorded(batch.get(settings, key))
    if (row) batch.put(settings, key, row)
    else batch.delete(settings, key)
    return { section: sectionOf(find(key), key), key, before, after: recorded(row) }
  })
}

/** Writes what sections hold; returns what changed. */
export const writeValues = (batch: Batch, values: readonly SectionValue[]): ConfigChange[] =>
  values.map(({ section, key, value }) => {
    const before = section.read(batch, key) ?? null
    section.write(batch, key, value)
    return { section: section.name, key, before, after: value ?? null }
  })

/** The effect of a change on the code of a plugin. */
export function codeChanges(news: PluginNews | undefined, before: Plugins, after: Plugins): ConfigChange[] {
  if (!news || 'set' in news) return []
  const key = 'installed' in news ? news.installed : news.removed
  return [{ section: 'code', key, before: codeOf(before.get(key)), after: codeOf(after.get(key)) }]
}

const codeOf = (plugin: Plugin | undefined): unknown =>
  plugin ? { version: plugin.manifest?.version ?? null, content: plugin.found.staged?.content ?? null } : null
