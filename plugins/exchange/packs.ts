import { hash } from 'node:crypto'
import rcompare from 'semver/functions/rcompare.js'
import type { z } from 'zod'
import { badRequest, type Collection, type Context, conflict, newId, notFound } from '#kernel'
import { repairedJson } from '#kit'
import {
  type PackRow,
  type packFields,
  packRow,
  type VersionRow,
  type versionFields,
  versionRow,
} from './shapes.ts'

type Given<F extends Readonly<Record<string, z.ZodType>>> = { [K in keyof F]: z.output<F[K]> }
type PackGiven = Given<typeof packFields>
type VersionGiven = Given<typeof versionFields>

export const mostPacks = 1000
const mostVersions = 100
const mostContent = 1_000_000

/** The packs and their versions. A version never changes. */
export class Packs {
  readonly rows: Collection<PackRow>
  readonly versions: Collection<VersionRow>
  readonly #store: Context<unknown>['store']

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#store = store
    this.rows = store.collection('packs', { schema: packRow })
    this.versions = store.collection('versions', { schema: versionRow })
  }

  /** Throws a not found. */
  async find(slug: string): Promise<PackRow> {
    const found = await this.rows.get(slug)
    if (found) return found
    throw notFound(`There is no pack ${slug}.`, { param: 'slug' })
  }

  /** A version of a pack, by default the latest. Throws a not found. */
  async version(slug: string, wanted?: string): Promise<VersionRow> {
    const pack = await this.find(slug)
    const found = await this.versions.get(idOf(slug, wanted ?? latestOf(pack)))
    if (found) return found
    throw notFound(`${slug} has no version ${wanted}.`, { param: 'version' })
  }

  /** A new pack with its first version. Throws a conflict where the slug is taken. */
  async create(slug: string, pack: PackGiven, first: VersionGiven): Promise<PackRow> {
    if ((await this.rows.count()) >= mostPacks)
      throw badRequest(`There are ${mostPacks} packs; delete some first.`, { param: 'slug' })
    const now = new Date().toISOString()
    const row: PackRow = {
      ...pack,
      id: newId('pk_'),
      slug,
      versions: [first.version],
      installs: 0,
      created_at: now,
      updated_at: now,
    }
    const version = versionOf(slug, first)
    await this.#store.transaction((tx) => {
      if (tx.get(this.rows, slug))
        throw conflict(`There is a pack ${slug} already; publish a version of it.`, { param: 'slug' })
      tx.put(this.rows, slug, row)
      tx.put(this.versions, idOf(slug, first.version), version)
    })
    return row
  }

  /** Adds a version. Throws a conflict for one that there is, as versions never change. */
  async publish(slug: string, given: VersionGiven): Promise<VersionRow> {
    const version = versionOf(slug, given)
    await this.find(slug)
    await this.#store.transaction((tx) => {
      const pack = tx.get(this.rows, slug)
      if (!pack) throw notFound(`There is no pack ${slug}.`, { param: 'slug' })
      if (pack.versions.includes(given.version))
        throw conflict(`${slug} has a version ${given.version} already, and versions never change.`, {
          param: 'version',
        })
      if (pack.versions.length >= mostVersions)
        throw badRequest(`${slug} has ${mostVersions} versions, which is the most.`, { param: 'version' })
      const versions = [...pack.versions, given.version]
      tx.put(this.rows, slug, { ...pack, versions, updated_at: version.published_at })
      tx.put(this.versions, idOf(slug, given.version), version)
    })
    return version
  }

  async change(slug: string, change: (row: PackRow) => PackRow): Promise<PackRow> {
    const updated_at = new Date().toISOString()
    const row = await this.rows.update(slug, (pack) => pack && { ...change(pack), updated_at })
    if (row) return row
    throw notFound(`There is no pack ${slug}.`, { param: 'slug' })
  }

  /** Counts an install. */
  async count(slug: string): Promise<void> {
    await this.rows.update(slug, (pack) => pack && { ...pack, installs: pack.installs + 1 })
  }

  async delete(slug: string): Promise<void> {
    const { versions } = await this.find(slug)
    await this.#store.transaction((tx) => {
      tx.delete(this.rows, slug)
      for (const version of versions) tx.delete(this.versions, idOf(slug, version))
    })
  }
}

const idOf = (slug: string, version: string): string => `${slug}@${version}`

/** The highest version; one before its release only where nothing was released. */
export function latestOf({ versions }: Pick<PackRow, 'versions'>): string {
  const sorted = versions.toSorted(rcompare)
  return sorted.find((version) => !version.includes('-')) ?? sorted[0]!
}

function versionOf(slug: string, given: VersionGiven): VersionRow {
  const text = repairedJson(given.content)
  if (text.length > mostContent)
    throw badRequest(`The content of a pack has ${mostContent} characters at most.`, { param: 'content' })
  return { slug, ...given, content_sha256: hash('sha256', text), published_at: new Date().toISOString() }
}
