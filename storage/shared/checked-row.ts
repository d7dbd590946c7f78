import { z } from 'zod'
import type { IndexAnswer } from '../index.ts'

/** The values under which each index has a row, by index. */
export type IndexValues = Readonly<Record<string, IndexAnswer>>

/** A row that went through its schema in a thread, and what the functions of its collection say of it there. */
export interface CheckedRow {
  readonly row: unknown
  readonly values: IndexValues
}

const checked = Symbol('checked')

/** Leaves a mark on a row that becomes the checked one, or is it; other code does not see the mark. */
export function marked(row: unknown, as: CheckedRow): unknown {
  for (const one of [row, as.row])
    if (canBeMarked(one)) Object.defineProperty(one, checked, { value: as, configurable: true })
  return row
}

const canBeMarked = (row: unknown): row is { readonly [checked]?: CheckedRow } =>
  typeof row === 'object' && row !== null

const checkedOf = (row: unknown): CheckedRow | undefined => (canBeMarked(row) ? row[checked] : undefined)

/** Lets rows through that were checked, and where there are no indexes those that cannot be marked, such as texts. */
export const checkedSchema = (hasIndexes: boolean): z.ZodType<unknown> =>
  z.unknown().transform((row, context) => {
    const known = checkedOf(row)
    if (known) return known.row
    if (hasIndexes || canBeMarked(row)) context.addIssue('was not checked where its collection is')
    return row
  })

export const valuesOf = (row: unknown, index: string): IndexAnswer => checkedOf(row)?.values[index]
