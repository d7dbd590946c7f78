import { type Awaitable, badRequest, type Context, notFound } from '#kernel'
import { type NewVersion, type StoredVersion, VersionedRows, versionKey } from '#kit'
import { Bodies, type Owner } from './bodies.ts'
import type { Prompt } from './prompt.ts'
import { type Draft, type Part, partText, published } from './publishing.ts'
import { isForAll, type TemplateRow, templateRow, type VersionBody } from './rows.ts'

/** Bounds: templates of one user, and of all admins together; versions of a template. */
export const most = { things: 100, versions: 500 }

/** Which version of a template; the newest one without both. */
export interface Which {
  readonly version?: number | undefined
  readonly label?: string | undefined
}

/** Templates with what their versions say. */
export class Studio {
  readonly shelf: VersionedRows<TemplateRow>
  readonly #bodies: Bodies

  constructor(context: Pick<Context<unknown>, 'id' | 'find' | 'use' | 'store'>) {
    const rows = context.store.collection('templates', { schema: templateRow })
    this.shelf = new VersionedRows(context.store, rows, { thing: 'template', most, isForAll })
    this.#bodies = new Bodies(context)
  }

  /** The version that a call or a reader means. Throws where there is none; `at` is what the names of the fields begin with. */
  numberOf({ slug, labels, current_version }: TemplateRow, { version, label }: Which, at = ''): number {
    if (version !== undefined && label !== undefined)
      throw badRequest('Name a version or a label, not both.', { param: `${at}label` })
    if (label === undefined) {
      if (version === undefined || version <= current_version) return version ?? current_version
      throw notFound(`The template ${slug} has no version ${version}.`, { param: `${at}version` })
    }
    if (Object.hasOwn(labels, label)) return labels[label]!
    throw notFound(`The template ${slug} has no version with the label ${label}.`, { param: `${at}label` })
  }

  /** A version, ready to be filled. */
  prompt(row: TemplateRow, version: number): Awaitable<Prompt> {
    const found = this.#bodies.ready(versionKey(row.id, version), () => this.shelf.version(row.id, version))
    return found instanceof Promise
      ? found.then((prompt) => prompt ?? lost(row, version))
      : (found ?? lost(row, version))
  }

  /** A version as it was published. */
  async read(row: TemplateRow, version: number): Promise<{ row: StoredVersion; body: VersionBody }> {
    const stored = await this.shelf.version(row.id, version)
    const body = stored && (await this.#bodies.read(stored))
    return body ? { row: stored, body } : lost(row, version)
  }

  /** What a stored version says; undefined where it cannot be opened any more. */
  open(row: StoredVersion): Promise<VersionBody | undefined> {
    return this.#bodies.read(row)
  }

  /** A version that is ready to be stored. Throws a bad request for what cannot be published. */
  async draft(owner: Owner & Pick<TemplateRow, 'id'>, draft: Draft, author: string): Promise<NewVersion> {
    const body = await this.body(owner, draft)
    return { author, created_at: new Date().toISOString(), body: await this.seal(owner, body) }
  }

  /** What such a version would say; partials may be `brought`. Throws a bad request for what cannot be published. */
  body(
    { id, ...owner }: Owner & { readonly id: string | undefined },
    draft: Draft,
    brought: (slug: string) => Part | undefined = () => undefined,
  ): Promise<VersionBody> {
    return published(draft, id, async (slug) => {
      const part = brought(slug)
      if (!part) return this.#part(slug, owner)
      const here = await this.#part(slug, owner).catch(() => undefined)
      return here && partText(here) === partText(part) ? here : part
    })
  }

  /** What a version says, as it is stored for this owner. */
  seal(owner: Owner, body: VersionBody): Promise<string> {
    return this.#bodies.write(owner, body)
  }

  /** What a partial stands for now: a template of the same owner, else a shared one. */
  async #part(slug: string, { user_id }: Owner): Promise<Part> {
    const row = this.shelf.known.named(slug, user_id)
    if (!row || row.status === 'archived')
      throw badRequest(`body content: there is no template ${slug} for a partial.`, { param: 'content' })
    const { body } = await this.read(row, row.current_version)
    return { id: row.id, version: row.current_version, body }
  }
}

function lost({ slug }: TemplateRow, version: number): never {
  throw notFound(`Version ${version} of the template ${slug} cannot be read any more. Publish another one.`, {
    param: 'version',
  })
}
