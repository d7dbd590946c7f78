import { StoreError } from '../errors.ts'
import type { FieldValue, LogQuery } from '../index.ts'
import { type BlockHeader, decodeNumbers } from './block.ts'
import { listOf } from './keys.ts'
import type { LogBlocks, LogView } from './log-blocks.ts'
import { findPosting, type Posting } from './postings.ts'

const blocksAtOnce = 32

/** One field must have one of these values. */
export interface Condition {
  readonly field: string
  readonly values: readonly FieldValue[]
}

/** What an index answers of a query. */
export interface Conditions {
  readonly fields: readonly Condition[]
  /** Numbers that must be this or more. */
  readonly minima: readonly (readonly [name: string, least: number])[]
}

/** The rows of one block that match, by their number in the block, ascending. */
export interface Selection {
  /** Number of the first row of the block. */
  readonly first: number
  readonly count: number
  rows(): ArrayLike<number>
}

/** The index of one block, wherever it lies. */
interface BlockFacts {
  /** Rows of the block up to which it is looked at. */
  readonly size: number
  /** Absent when neither a time nor a deleted row has to be looked for. */
  readonly times: ArrayLike<number> | undefined
  posting(field: string, value: FieldValue): Posting | undefined
  numbers(name: string): ArrayLike<number>
}

/** Throws `INDEX_UNKNOWN` for a field or a number that the log does not have. */
export function conditionsOf(
  { where = {}, atLeast = {} }: Pick<LogQuery, 'where' | 'atLeast'>,
  { fields, numbers }: { readonly fields: readonly string[]; readonly numbers: readonly string[] },
): Conditions {
  const conditions: Condition[] = []
  for (const [field, value] of Object.entries(where)) {
    if (value === undefined) continue
    check('field', field, fields)
    conditions.push({ field, values: listOf(value).filter((one) => one !== undefined) })
  }
  const minima: [name: string, least: number][] = []
  for (const [name, least] of Object.entries(atLeast)) {
    if (least === undefined) continue
    check('number', name, numbers)
    minima.push([name, least])
  }
  return { fields: conditions, minima }
}

function check(kind: string, name: string, names: readonly string[]): void {
  if (names.includes(name)) return
  const known = names.join(', ') || 'none'
  throw new StoreError('INDEX_UNKNOWN', `The log has no ${kind} "${name}". The ${kind}s here: ${known}.`)
}

/**
 * What matches, block by block, newest block first unless `reverse` is false. Blocks without a match are left out, and so are
 * those with rows before the row `after` only, in the order of the query.
 */
export async function* selectRows<T>(
  blocks: LogBlocks<T>,
  view: LogView,
  conditions: Conditions,
  query: LogQuery,
  after?: number,
): AsyncIterable<Selection> {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, reverse = true } = query
  const { blockRows } = blocks.format
  const openFirst = view.next - (view.next % blockRows)
  const select = (first: number, facts: BlockFacts) => matchRows(first, facts, conditions, from, to)

  const place = after === undefined ? undefined : Math.floor(after / blockRows)
  const isPast = (block: number): boolean => place !== undefined && (reverse ? block > place : block < place)
  const headers = view.sealed.filter(
    ({ block, minTime, maxTime }) => maxTime >= from && minTime < to && !isPast(block),
  )
  if (reverse) headers.reverse()
  const open = select(openFirst, openFacts(view, view.next - openFirst))
  if (reverse && open.count > 0) yield open
  for (let at = 0; at < headers.length; at += blocksAtOnce) {
    const some = headers.slice(at, at + blocksAtOnce)
    const needsTimes = ({ rows, minTime, maxTime }: BlockHeader) =>
      minTime < from || maxTime >= to || (rows < blockRows && isEmpty(conditions))
    const facts = await readFacts(blocks, view, some, conditions, needsTimes)
    for (const [index, { block }] of some.entries()) {
      const selection = select(block * blockRows, facts[index]!)
      if (selection.count > 0) yield selection
    }
  }
  if (!reverse && open.count > 0) yield open
}

function matchRows(
  first: number,
  facts: BlockFacts,
  conditions: Conditions,
  from: number,
  to: number,
): Selection {
  const [only] = conditions.fields
  if (!facts.times && isEmpty(conditions)) {
    return { first, count: facts.size, rows: () => Array.from({ length: facts.size }, (_, row) => row) }
  }
  const isOne = conditions.fields.length === 1 && conditions.minima.length === 0
  if (!facts.times && isOne && only?.values.length === 1) {
    const posting = facts.posting(only.field, only.values[0]!)
    return { first, count: posting?.count ?? 0, rows: () => posting?.rows() ?? [] }
  }
  const rows = intersect(facts, conditions, from, to)
  return { first, count: rows.length, rows: () => rows }
}

const isEmpty = ({ fields, minima }: Conditions): boolean => fields.length === 0 && minima.length === 0

/** Marks say how many conditions a row has met so far; only rows that met all before can meet the next. */
function intersect(facts: BlockFacts, { fields, minima }: Conditions, from: number, to: number): number[] {
  const marks = new Uint8Array(facts.size)
  for (const [met, { field, values }] of fields.entries()) {
    for (const value of values) {
      const rows = facts.posting(field, value)?.rows() ?? []
      for (let at = 0; at < rows.length; at++) {
        const row = rows[at]!
        if (marks[row] === met) marks[row] = met + 1
      }
    }
  }
  const all = fields.length + minima.length
  for (const [i, [name, least]] of minima.entries()) {
    const met = fields.length + i
    const numbers = facts.numbers(name)
    for (let row = 0; row < facts.size; row++)
      if (marks[row] === met && numbers[row]! >= least) marks[row] = met + 1
  }
  const matching: number[] = []
  for (let row = 0; row < facts.size; row++) {
    if (marks[row] !== all) continue
    const time = facts.times?.[row]
    if (time === undefined || (time >= from && time < to)) matching.push(row)
  }
  return matching
}

/** The open block grows while it is looked at: its times are given, so that rows beyond `size` are passed over. */
function openFacts({ open }: LogView, size: number): BlockFacts {
  return {
    size,
    times: open.times,
    posting(field, value) {
      const list = open.postings.get(field)?.get(value)
      return list && { count: list.length, rows: () => list }
    },
    numbers: (name) => open.numbers.get(name) ?? [],
  }
}

async function readFacts<T>(
  blocks: LogBlocks<T>,
  view: LogView,
  headers: readonly BlockHeader[],
  { fields, minima }: Conditions,
  needsTimes: (header: BlockHeader) => boolean,
): Promise<BlockFacts[]> {
  const keys: string[] = []
  for (const header of headers) {
    if (needsTimes(header)) keys.push(blocks.keys.times(header.block))
    for (const { field } of fields) keys.push(blocks.keys.posting(header.block, field))
    for (const [name] of minima) keys.push(blocks.keys.numbers(header.block, name))
  }
  const options = { valueEncoding: 'view', snapshot: view.snapshot } as const
  const values =
    keys.length === 0 ? [] : await blocks.backing.database.getMany<string, Uint8Array>(keys, options)
  const stored = new Map(keys.map((key, at) => [key, values[at]]))
  return headers.map((header) => {
    const times = stored.get(blocks.keys.times(header.block))
    return {
      size: blocks.format.blockRows,
      times: times && decodeNumbers(times),
      posting(field, value) {
        const bytes = stored.get(blocks.keys.posting(header.block, field))
        return bytes && findPosting(bytes, value)
      },
      numbers(name) {
        const bytes = stored.get(blocks.keys.numbers(header.block, name))
        return bytes ? decodeNumbers(bytes) : []
      },
    }
  })
}
