import { type Actor, type Context, conflict, kernelServices } from '#kernel'
import type { NewVersion, StoredVersion } from '#kit'
import type { TemplateRow } from '../rows.ts'
import type { Studio } from '../studio.ts'
import { saidOf, type TemplateSaid } from './said.ts'
import { sectionName, templateSection } from './section.ts'

interface Newest {
  readonly row: TemplateRow
  readonly newest: StoredVersion | undefined
}

/** Changes of templates: those of the admins are changes of the configuration, with an entry in its history. */
export class TemplateChanges {
  readonly #context: Pick<Context<unknown>, 'use'>
  readonly #studio: Studio

  constructor(context: Pick<Context<unknown>, 'section' | 'use'>, studio: Studio) {
    this.#context = context
    this.#studio = studio
    context.section(templateSection(studio))
  }

  /** Stores a new template with its first version. Throws a conflict for a slug that is taken. */
  async create(row: TemplateRow, version: NewVersion, actor: Actor): Promise<TemplateRow> {
    const { shelf } = this.#studio
    const { slug, user_id: user } = row
    if (user !== undefined) {
      await shelf.create(row, version)
      return row
    }
    await this.#say(slug, actor, (now) => {
      if (now) throw conflict(`There is a template ${slug} already.`, { param: 'slug' })
      shelf.demandRoom(undefined)
      return saidOf(row, { of: row.id, version: 1, ...version })
    })
    return this.#studio.shelf.known.named(slug, undefined)!
  }

  /** Changes a row. `change` gets it as it is then. */
  async change(
    row: TemplateRow,
    change: (row: TemplateRow) => TemplateRow,
    actor: Actor,
  ): Promise<TemplateRow> {
    if (row.user_id !== undefined) return this.#studio.shelf.change(row, change)
    return this.#sayOf(row, actor, (now) => {
      const updated_at = new Date().toISOString()
      return saidOf({ ...change(now.row), updated_at }, now.newest)
    })
  }

  /** Adds the version behind `after`, and changes the row with it; refuses it where another version came first. */
  async publish(
    row: TemplateRow,
    after: number,
    version: NewVersion,
    change: (row: TemplateRow, version: number) => TemplateRow,
    actor: Actor,
  ): Promise<TemplateRow> {
    const { shelf } = this.#studio
    if (row.user_id !== undefined) return shelf.publish(row, after, version, change)
    return this.#sayOf(row, actor, (now) => {
      shelf.demandNext(now.row, after)
      const number = after + 1
      const next = { ...change(now.row, number), current_version: number, updated_at: version.created_at }
      return saidOf(next, { of: row.id, version: number, ...version })
    })
  }

  /** Deletes a template with its versions; returns how many these were. */
  async delete(row: TemplateRow, actor: Actor): Promise<number> {
    const { shelf } = this.#studio
    if (row.user_id !== undefined) return shelf.delete(row)
    let versions = 0
    await this.#say(row.slug, actor, (now) => {
      if (now?.row.id !== row.id) throw shelf.known.unknown(row.slug)
      versions = now.row.current_version
      return undefined
    })
    return versions
  }

  async #sayOf(row: TemplateRow, actor: Actor, next: (now: Newest) => TemplateSaid): Promise<TemplateRow> {
    const { known } = this.#studio.shelf
    await this.#say(row.slug, actor, (now) => {
      if (now?.row.id !== row.id) throw known.unknown(row.slug)
      return next(now)
    })
    const after = known.named(row.slug, undefined)
    if (after) return after
    throw known.unknown(row.slug)
  }

  /** Asks what is to be said while nothing else changes, so that of two changes each adds to the one before. */
  async #say(
    slug: string,
    actor: Actor,
    next: (now: Newest | undefined) => TemplateSaid | undefined,
  ): Promise<void> {
    const { shelf } = this.#studio
    await this.#context.use(kernelServices.registry).apply(async () => {
      const row = shelf.known.named(slug, undefined)
      const value = next(row && { row, newest: await shelf.version(row.id, row.current_version) })
      return { rows: new Map(), values: [{ section: sectionName, key: slug, value }] }
    }, actor)
  }
}
