import { isDeepStrictEqual } from 'node:util'
import { type ConfigChange, entryAt, type Journal } from './journal.ts'
import type { Plugin } from './plugin-record.ts'
import { sectionsOfSettings, storedOf } from './recorded.ts'
import type { Records } from './records.ts'
import type { StoredSetting } from './setting.ts'

/** The changes of a rollback, and the number of the generation that it led to. */
export interface RolledBack {
  readonly number: number
  readonly changes: readonly ConfigChange[]
}

/** The state that a rollback sets: settings of plugins and bindings by their ids, and the values of sections. */
interface Target {
  readonly rows: ReadonlyMap<string, StoredSetting | undefined>
  readonly values: readonly { readonly section: string; readonly key: string; readonly value: unknown }[]
  readonly changes: readonly ConfigChange[]
}

/** The settings that differ now from those in a generation, as they were there. Code that came or went stays. Throws a not found. */
export async function targetOf(journal: Journal, generation: number): Promise<Target> {
  await entryAt(journal, generation)
  const changes = (await changesSince(journal, generation))
    .filter(({ section, before, after }) => section !== 'code' && !isDeepStrictEqual(before, after))
    .map(({ before, after, ...at }) => ({ ...at, before: after, after: before }))
  const isSetting = ({ section }: ConfigChange): boolean => sectionsOfSettings.has(section)
  return {
    changes,
    rows: new Map(changes.filter(isSetting).map(({ key, after }) => [key, storedOf(after)])),
    values: changes
      .filter((change) => !isSetting(change))
      .map(({ section, key, after }) => ({ section, key, value: after ?? undefined })),
  }
}

/** For each key that was changed after a generation the value at that generation, and the value now. */
async function changesSince(journal: Journal, generation: number): Promise<ConfigChange[]> {
  const changes = new Map<string, ConfigChange>()
  for await (const later of journal.scan(generation + 1)) {
    for (const { before, ...rest } of later.changes) {
      // Of a plugin that is gone the kind is not known, so its settings may have been under another section.
      const id = sectionsOfSettings.has(rest.section) ? rest.key : JSON.stringify([rest.section, rest.key])
      const first = changes.get(id)
      changes.set(id, { ...rest, before: first ? first.before : before })
    }
  }
  return [...changes.values()]
}

interface Known {
  readonly records: Records
  readonly find: (id: string) => Plugin | undefined
  /** A plugin and its bindings, to go by other settings. */
  readonly withSettings: (plugin: Plugin, stored: StoredSetting | undefined) => Plugin[]
}

/** The plugins and bindings that these rows lead to: modules first, as their bindings depend on them. */
export function restored(
  rows: Target['rows'],
  { records, find, withSettings }: Known,
): { readonly put: Plugin[]; readonly remove: Plugin[] } {
  const put = new Map<string, Plugin>()
  const remove: Plugin[] = []
  for (const [id, stored] of [...rows].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [module = '', name] = id.split('/')
    const owner = put.get(module) ?? find(module)
    if (!owner?.manifest || owner.found.problem) continue
    const known = put.get(id) ?? find(id)
    if (name === undefined) for (const one of withSettings(owner, stored)) put.set(one.id, one)
    else if (stored || records.isConfigured(id)) {
      const binding = known ?? records.binding(owner, name, stored)
      put.set(id, records.withSettings(binding, stored, owner.setting))
    } else if (known) {
      put.delete(id)
      remove.push(known)
    }
  }
  return { put: [...put.values()], remove }
}
