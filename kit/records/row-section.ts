import { isDeepStrictEqual } from 'node:util'
import type { PortableSection } from '../../contract/configuration.ts'
import type { Collection } from '../../storage/index.ts'
import { badRequest } from '../errors.ts'

/** What the gateway adds to what an admin says. */
interface Kept {
  readonly id: string
  readonly version?: number
  readonly created_at: string
  readonly updated_at: string
}
type Fields<R extends Kept> = Omit<R, keyof Kept>

interface RowSection<R extends Kept> {
  readonly name: string
  readonly rows: Collection<R>
  /** How many rows there may be. */
  readonly most: number
  /** Whether rows count their changes. */
  readonly isVersioned?: boolean
  /** The fields that a form stands for. Throws a bad request that names the field. */
  readonly fieldsOf: (form: object, before: R | undefined) => Fields<R> | Promise<Fields<R>>
  /** The form of a row's fields, where it is not these fields. */
  readonly formOf?: (fields: Fields<R>) => unknown
  readonly withheld?: (row: R) => readonly string[]
  readonly show?: (row: R) => unknown
}

/** A section of the configuration whose values are the rows of a collection, by their ids. */
export const rowSection = <R extends Kept>({
  name,
  rows,
  most,
  isVersioned = false,
  fieldsOf,
  formOf = (fields) => fields,
  withheld,
  show,
}: RowSection<R>): PortableSection<R> => ({
  name,
  most,
  ...(withheld && { withheld }),
  ...(show && { show }),
  read: (transaction, id) => transaction.get(rows, id),
  write(transaction, id, row) {
    if (row) transaction.put(rows, id, row)
    else transaction.delete(rows, id)
  },
  all: () => rows.scan(),
  shared: ({ id: _id, version: _version, created_at: _created, updated_at: _updated, ...fields }) =>
    formOf(fields),
  async given(id, form, before) {
    if (!/^[\w-]{1,100}$/.test(id)) throw badRequest('An id has letters, digits, - and _, at most 100.')
    if (typeof form !== 'object' || form === null) throw badRequest('Expected an object.')
    const fields = await fieldsOf(form, before)
    const now = new Date().toISOString()
    const version = before?.version ?? 0
    const kept = { id, ...(isVersioned && { version }), created_at: before?.created_at ?? now }
    if (before && isDeepStrictEqual({ ...fields, ...kept, updated_at: before.updated_at }, before))
      return before
    return {
      ...fields,
      ...kept,
      ...(isVersioned && { version: version + 1 }),
      updated_at: now,
    } as unknown as R
  },
})
