import type { Plugin } from './plugin-record.ts'
import type { Records } from './records.ts'
import type { StoredSetting } from './setting.ts'

interface Known {
  readonly records: Records
  readonly find: (id: string) => Plugin | undefined
  /** A plugin and its bindings, to go by other settings. */
  readonly withSettings: (plugin: Plugin, stored: StoredSetting | undefined) => Plugin[]
}

/** The plugins and bindings that these rows lead to: modules first, as their bindings depend on them. */
export function restored(
  rows: ReadonlyMap<string, StoredSetting | undefined>,
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
