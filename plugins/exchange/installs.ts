import {
  type Actor,
  type Applied,
  type Collection,
  type Configuration,
  type Configured,
  type Context,
  conflict,
  type FormChange,
  type Forms,
  newId,
  notFound,
} from '#kernel'
import { type Action, actionOf, formsOf, isUntouched, objectsAfter, restoredForm, wantedBy } from './merge.ts'
import { type InstalledRow, installedRow, type VersionRow } from './shapes.ts'

export const onConflicts = ['fail', 'skip', 'overwrite'] as const

interface InstallOptions {
  readonly actor: Actor
  readonly isTrial: boolean
  readonly onConflict: (typeof onConflicts)[number]
}

/** What an install has done, or a trial would do. */
export interface Installed {
  readonly row: InstalledRow
  readonly actions: readonly (FormChange & { readonly action: Action })[]
  readonly skipped: readonly FormChange[]
  readonly applied: Applied
}

interface Parts {
  readonly configuration: () => Configuration
  readonly isTaken: (place: Pick<FormChange, 'section' | 'key'>) => boolean
}

const sectionName = 'installed'

/**
 * The packs that are installed, and the keys that each has set. A record is written in the batch of the configuration that it is
 * about, and goes back with a rollback.
 */
export class Installs {
  readonly rows: Collection<InstalledRow>
  readonly #parts: Parts

  constructor({ store, section }: Pick<Context<unknown>, 'store' | 'section'>, parts: Parts) {
    this.#parts = parts
    this.rows = store.collection('installed', { schema: installedRow, indexes: { slug: ({ slug }) => slug } })
    section<InstalledRow>({
      name: sectionName,
      read: (tx, id) => tx.get(this.rows, id),
      write: (tx, id, row) => {
        if (row) tx.put(this.rows, id, row)
        else tx.delete(this.rows, id)
      },
    })
  }

  async of(slug: string): Promise<InstalledRow | undefined> {
    const { items } = await this.rows.list({ index: 'slug', equals: slug, limit: 1 })
    return items[0]
  }

  /** Throws a not found. */
  async find(id: string): Promise<InstalledRow> {
    const found = await this.rows.get(id)
    if (found) return found
    throw notFound(`There is no installed pack ${id}.`, { param: 'id' })
  }

  /** Sets the content of a version, as one generation or not at all. Throws a conflict that lists keys of others. */
  async install(
    { slug, version }: Pick<VersionRow, 'slug' | 'version'>,
    content: Forms,
    { actor, isTrial, onConflict }: InstallOptions,
  ): Promise<Installed> {
    const { configuration, isTaken } = this.#parts
    let before: InstalledRow | undefined
    let made: Omit<Installed, 'applied'> | undefined
    const wanted = async (now: Configured): Promise<Forms> => {
      before = await this.of(slug)
      return wantedBy(content, before?.objects ?? [], now)
    }
    const applied = await configuration().apply(wanted, {
      actor,
      isTrial,
      decide: (changes) => {
        const standing = { held: before?.objects ?? [], isTaken }
        const actions = changes.map((change) => ({ ...change, action: actionOf(change, standing) }))
        const isConflict = (_: unknown, place: number): boolean => actions[place]!.action === 'conflict'
        const conflicts = changes.filter(isConflict)
        if (onConflict === 'fail' && conflicts.length > 0) throw inTheWay(slug, conflicts)
        const skipped = onConflict === 'skip' ? conflicts : []
        const kept = changes.filter((change) => !skipped.includes(change))
        const now = new Date().toISOString()
        const row: InstalledRow = {
          id: before?.id ?? newId('ins_'),
          slug,
          version,
          objects: objectsAfter(content, kept, standing),
          installed_at: before?.installed_at ?? now,
          updated_at: now,
        }
        made = { row, actions, skipped }
        const isSame = before?.version === version && kept.length === 0
        return { changes: kept, also: isSame ? [] : [{ section: sectionName, key: row.id, value: row }] }
      },
    })
    return { ...made!, applied }
  }

  /** Restores what was there before, except for keys that were touched since, as one generation. Throws a not found. */
  async uninstall(
    id: string,
    actor: Actor,
  ): Promise<{ restored: string[]; left: string[]; generation: number }> {
    let left: string[] = []
    const { changes, after } = await this.#parts.configuration().apply(
      async ({ sections, secrets }) => {
        const { objects } = await this.find(id)
        const mine = objects.filter((object) => object.section in sections && isUntouched(object, sections))
        left = objects.filter((object) => !mine.includes(object)).map(nameOf)
        return formsOf(mine.map((object) => ({ ...object, form: restoredForm(object, secrets) })))
      },
      {
        actor,
        decide: (all) => ({ changes: all, also: [{ section: sectionName, key: id, value: undefined }] }),
      },
    )
    return { restored: changes.map(nameOf), left, generation: after.generation }
  }
}

const nameOf = ({ section, key }: Pick<FormChange, 'section' | 'key'>): string => `${section}.${key}`

function inTheWay(slug: string, conflicts: readonly FormChange[]) {
  const keys = conflicts.map(nameOf)
  return conflict(
    `${slug} would change what others have set: ${keys.slice(0, 20).join(', ')}. Say on_conflict skip or overwrite.`,
    { param: 'on_conflict', details: { conflicts: keys.slice(0, 500) } },
  )
}
