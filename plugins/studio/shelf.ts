import { type Context, conflict, forbidden, notFound, type Principal, type Store } from '#kernel'
import { followRows, forbidOthers } from '#kit'
import { withLabels } from './labels.ts'
import {
  isForAll,
  isOwn,
  keyOf,
  maySee,
  type TemplateRow,
  templatesIn,
  type VersionRow,
  versionKey,
  versionsIn,
} from './rows.ts'

/** Bounds: templates of one user, and of all admins together; versions of a template. */
const most = { templates: 100, versions: 500 }

/** A version as it is to be stored, without its number. */
export type NewVersion = Omit<VersionRow, 'template' | 'version'>

/** All templates, in memory for calls and in the store for good. A change holds for the next call, in every thread. */
export class Shelf {
  readonly #store: Store
  readonly #rows: ReturnType<typeof templatesIn>
  readonly #versions: ReturnType<typeof versionsIn>
  readonly #known = new Map<string, TemplateRow>()

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#store = store
    this.#rows = templatesIn(store)
    this.#versions = versionsIn(store)
  }

  /** Takes in what is stored, and from then on every change; returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.#rows, (key, row) => {
      if (row) this.#known.set(key, row)
      else this.#known.delete(key)
    })
  }

  get size(): number {
    return this.#known.size
  }

  /** The templates that a caller may see, newest first. */
  seenBy(caller: Principal): TemplateRow[] {
    return Array.from(this.#known.values())
      .filter((row) => maySee(row, caller))
      .sort((a, b) => (a.id < b.id ? 1 : -1))
  }

  ofUser(user: string): TemplateRow[] {
    return Array.from(this.#known.values()).filter(({ user_id }) => user_id === user)
  }

  /** The template that a slug means to an owner: a user's own, else a shared one; admins have theirs together. */
  named(slug: string, owner: string | undefined): TemplateRow | undefined {
    const own = this.#known.get(keyOf({ user_id: owner, slug }))
    if (own || owner === undefined) return own
    const shared = this.#known.get(keyOf({ user_id: undefined, slug }))
    return shared && isForAll(shared) ? shared : undefined
  }

  /** The template that a slug means to a caller, or to the user that an admin names. Throws where there is none. */
  find(slug: string, caller: Principal, user?: string): TemplateRow {
    const row = this.named(slug, forbidOthers(caller, user))
    if (row) return row
    throw unknown(slug)
  }

  /** The same; throws where the caller may not change it. */
  findOwn(slug: string, caller: Principal, user?: string): TemplateRow {
    const row = this.find(slug, caller, user)
    if (caller.type === 'admin' || isOwn(row, caller)) return row
    throw forbidden(`The template ${slug} is shared, and only admins can change it. Make one of your own.`, {
      param: 'slug',
    })
  }

  /** Stores a new template with its first version. */
  async create(row: TemplateRow, version: NewVersion): Promise<void> {
    const { user_id, slug, id } = row
    const owned = Array.from(this.#known.values()).filter((other) => other.user_id === user_id)
    if (owned.length >= most.templates)
      throw conflict(`There are ${most.templates} templates already. Delete one first.`, { param: 'slug' })
    await this.#store.transaction((tx) => {
      if (tx.get(this.#rows, keyOf(row)))
        throw conflict(`There is a template ${slug} already.`, { param: 'slug' })
      tx.create(this.#rows, keyOf(row), row)
      tx.create(this.#versions, versionKey(id, 1), { template: id, version: 1, ...version })
    })
  }

  /** Changes a template. `change` gets it as it is stored now, and may run more than once. */
  async change(row: TemplateRow, change: (row: TemplateRow) => TemplateRow): Promise<TemplateRow> {
    const changed = await this.#rows.update(keyOf(row), (now) =>
      now?.id === row.id ? { ...change(now), updated_at: new Date().toISOString() } : undefined,
    )
    if (!changed) throw unknown(row.slug)
    return changed
  }

  /** Adds the version behind `after`; refuses it where another one came first. */
  publish(
    row: TemplateRow,
    after: number,
    version: NewVersion,
    labels: readonly string[],
  ): Promise<TemplateRow> {
    return this.#store.transaction((tx) => {
      const now = tx.get(this.#rows, keyOf(row))
      if (now?.id !== row.id) throw unknown(row.slug)
      if (now.current_version !== after)
        throw conflict('Another version was published at the same moment. Read it, and publish again.')
      if (after >= most.versions)
        throw conflict(`A template takes ${most.versions} versions. Make another one.`)
      const next = after + 1
      tx.create(this.#versions, versionKey(row.id, next), { template: row.id, version: next, ...version })
      const changed: TemplateRow = {
        ...now,
        labels: withLabels(now.labels, Object.fromEntries(labels.map((label) => [label, next]))),
        current_version: next,
        updated_at: version.created_at,
      }
      tx.put(this.#rows, keyOf(row), changed)
      return changed
    })
  }

  /** Deletes a template with its versions; returns how many these were. */
  delete(row: TemplateRow): Promise<number> {
    return this.#store.transaction((tx) => {
      const now = tx.get(this.#rows, keyOf(row))
      if (now?.id !== row.id) throw unknown(row.slug)
      tx.delete(this.#rows, keyOf(row))
      for (let n = 1; n <= now.current_version; n += 1) tx.delete(this.#versions, versionKey(row.id, n))
      return now.current_version
    })
  }

  /** A version as it is stored. */
  version(id: string, version: number): Promise<VersionRow | undefined> {
    return this.#versions.get(versionKey(id, version))
  }

  /** The versions of a template, newest first. */
  versions(
    { id }: TemplateRow,
    page: { readonly limit?: number; readonly offset?: number; readonly after?: string },
  ): ReturnType<ReturnType<typeof versionsIn>['list']> {
    return this.#versions.list({ ...page, index: 'template', equals: [id], reverse: true })
  }
}

const unknown = (slug: string) => notFound(`There is no template ${slug}.`, { param: 'slug' })
