import { isDeepStrictEqual } from 'node:util'
import type { ConfigChange, Journal } from './journal.ts'
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

/** The settings that differ now from those in a generation, as they were there. Code that came or went stays. */
export async function targetOf(journal: Journal, generation: number): Promise<Target> {
  await journal.get(generation)
  const changes = (await journal.since(generation))
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
