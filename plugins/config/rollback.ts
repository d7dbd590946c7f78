import { isDeepStrictEqual } from 'node:util'
import type { ConfigChange, JointChange, Registry, StoredSetting } from '#kernel'
import { entryAt } from './history.ts'

/** The sections of the history that hold settings of plugins and bindings. */
export const settingSections: ReadonlySet<string> = new Set(['modules', 'bindings', 'plugins'])

type Journal = Registry['journal']
interface Rollback {
  readonly change: JointChange
  /** Each value that it changes, before and after it. */
  readonly changes: readonly ConfigChange[]
}

/**
 * What leads back to a generation: the values that differ now from those it had. Code that came or went stays. Throws a not
 * found.
 */
export async function rollbackTo(journal: Journal, generation: number): Promise<Rollback> {
  await entryAt(journal, generation)
  const changes = (await changesSince(journal, generation))
    .filter(({ section, before, after }) => section !== 'code' && !isDeepStrictEqual(before, after))
    .map(({ before, after, ...at }) => ({ ...at, before: after, after: before }))
  return { changes, change: { to: generation, ...jointOf(changes) } }
}

/** Changes of the history, to be made. */
export function jointOf(changes: readonly ConfigChange[]): JointChange {
  const isSetting = ({ section }: ConfigChange): boolean => settingSections.has(section)
  return {
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
      const id = settingSections.has(rest.section) ? rest.key : JSON.stringify([rest.section, rest.key])
      const first = changes.get(id)
      changes.set(id, { ...rest, before: first ? first.before : before })
    }
  }
  return [...changes.values()]
}

/** The setting of an entry, to be stored again. */
const storedOf = (value: unknown): StoredSetting | undefined =>
  value === null
    ? undefined
    : { ...(value as Omit<StoredSetting, 'updated_at'>), updated_at: new Date().toISOString() }
