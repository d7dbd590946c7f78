import { StoreError } from '../errors.ts'
import type { CollectionOptions } from '../index.ts'
import { checkIndexNames } from '../names.ts'
import type { Indexes } from './row-writer.ts'

/** How rows of a collection look now. */
export interface Shape<T> {
  readonly version: number
  readonly indexes: Indexes<T>
  readonly parse: (row: unknown) => T
  readonly migrate: (row: unknown, from: number) => unknown
  readonly prepare: CollectionOptions<T>['prepare']
}

/** Throws `NAME_INVALID` for index names that cannot be part of a key; `parse` throws `ROW_INVALID`. */
export function shapeOf<T>(options: CollectionOptions<T>): Shape<T> {
  const indexes = Object.entries(options.indexes ?? {})
  checkIndexNames(indexes.map(([name]) => name))
  return {
    version: options.version ?? 1,
    indexes,
    migrate: options.migrate ?? ((row) => row),
    prepare: options.prepare,
    parse(row) {
      const result = options.schema.safeParse(row)
      if (result.success) return result.data
      const places = result.error.issues.map((issue) => `${issue.path.join('.') || 'row'}: ${issue.code}`)
      throw new StoreError(
        'ROW_INVALID',
        `The row does not fit its schema (${places.join(', ')}).`,
        result.error,
      )
    },
  }
}
