import { newId } from '#kernel'
import type { NewVersion, StoredVersion } from '#kit'
import type { TemplateRow } from '../rows.ts'

/**
 * A template of the admins as the history keeps it: what is said of it, and its newest version as it is stored, sealed where that is
 * asked for. Older versions are no part of it.
 */
export interface TemplateSaid extends Omit<TemplateRow, 'slug' | 'user_id' | 'current_version'> {
  readonly version: number
  readonly body: string
  /** Who published the version, and when. */
  readonly publisher: string
  readonly published_at: string
}

export function saidOf(row: TemplateRow, newest: StoredVersion | undefined): TemplateSaid {
  const { slug: _slug, user_id: _user, current_version: version, ...head } = row
  const {
    body = '',
    author: publisher = row.author,
    created_at: published_at = row.updated_at,
  } = newest ?? {}
  return { ...head, version, body, publisher, published_at }
}

/**
 * The row that stands for what is said, and the version to publish for it; undefined where the newest one says the same. A template
 * that is not there begins anew with another id, as nothing may stand under the number of a version that it had.
 */
export function rowOf(
  slug: string,
  { version, body, publisher, published_at, ...head }: TemplateSaid,
  now: { readonly row: TemplateRow; readonly newest: StoredVersion | undefined } | undefined,
): { row: TemplateRow; version: NewVersion | undefined } {
  const isSame = now !== undefined && now.newest?.body === body
  const number = isSame ? now.row.current_version : (now?.row.current_version ?? 0) + 1
  // Numbers of another template that had the slug mean nothing.
  const isHere = now?.row.id === head.id
  const labels = Object.entries(head.labels).flatMap(([label, of]): [string, number][] => {
    if (of === version) return [[label, number]]
    return isHere && of < number ? [[label, of]] : []
  })
  return {
    row: {
      ...head,
      id: now?.row.id ?? newId('tpl_'),
      slug,
      labels: Object.fromEntries(labels),
      current_version: number,
    },
    version: isSame ? undefined : { author: publisher, created_at: published_at, body },
  }
}

/** The labels that are on the newest version. */
export const labelsOf = ({ labels, version }: Pick<TemplateSaid, 'labels' | 'version'>): string[] =>
  Object.keys(labels)
    .filter((label) => labels[label] === version)
    .sort()
