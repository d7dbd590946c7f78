import type { StoredSetting } from '../../config/setting.ts'
import { explain } from '../../kit/explain.ts'
import { inTime } from '../../kit/work/in-time.ts'
import { withPlace } from '../discovery/loader.ts'
import { setupLimit } from '../discovery/manifest.ts'
import { type Isolation, isolationOf, type Migrated, type OlderSettings } from './isolation.ts'
import type { Plugin } from './plugin-record.ts'
import { definitionOf } from './setup.ts'

/** The version of a row that was written before rows had one. */
const unknownVersion = '0.0.0'

/**
 * The stored row of a plugin in the form that its present version takes: the plugin's definition migrates settings of another
 * version. Going back to the version before gives the settings that it had stored. The same row where there is nothing to do;
 * throws a readable error when it cannot be migrated.
 */
export async function migrate(plugin: Plugin, isolation: Isolation): Promise<StoredSetting | undefined> {
  const { stored, manifest, found } = plugin
  const { version: from = unknownVersion, before, ...row } = stored ?? {}
  const had = Object.entries(stored?.config ?? {}).filter(([, value]) => value !== null)
  if (!stored || !manifest || !found.entry || from === manifest.version || had.length === 0) return stored
  const next = { ...row, updated_at: new Date().toISOString(), version: manifest.version }
  if (before?.version === manifest.version) return { ...next, config: before.config }
  if (isolationOf(plugin) === 'inproc') await definitionOf(plugin)
  try {
    const older = { settings: structuredClone(Object.fromEntries(had)), from }
    const migrated = await inTime(askFor(plugin, older, isolation), setupLimit(found), 'migrate')
    if (!migrated) return stored
    const config = migrated.settings
    if (typeof config !== 'object' || config === null || Array.isArray(config))
      throw new Error('migrate must return an object')
    const cleared = Object.entries(stored.config!).filter(([, value]) => value === null)
    const carried = { ...Object.fromEntries(cleared), ...structuredClone(config) }
    return { ...next, config: carried, before: { version: from, config: stored.config! } }
  } catch (error) {
    const why = explain(await withPlace(error, found.entry))
    throw new Error(`the settings that its version ${from} had stored could not be carried over: ${why}`, {
      cause: error,
    })
  }
}

async function askFor(
  plugin: Plugin,
  older: OlderSettings,
  isolation: Isolation,
): Promise<Migrated | undefined> {
  if (isolationOf(plugin) === 'worker') return isolation.migrate(plugin, older)
  const { migrate } = await definitionOf(plugin)
  return migrate && { settings: await migrate(older.settings, older.from) }
}
