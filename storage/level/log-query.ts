import { StoreError } from '../errors.ts'
import type { LogQuery } from '../index.ts'
import { type BlockHeader, decodeTimes } from './block.ts'
import { listOf } from './keys.ts'
import type { LogBlocks, LogView } from './log-blocks.ts'
import { type FieldValue, findPosting, type Posting } from './postings.ts'

const blocksAtOnce = 32

/** One field must have one of these values. */
export interface Condition {
  readonly field: string
  readonly values: readonly FieldValue[]
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
}

/** Throws `INDEX_UNKNOWN` for a field that the log does not have. */
export function conditionsOf(query: Pick<LogQuery, 'where'>, fields: readonly string[]): Condition[] {
  const conditions: Condition[] = []
  for (const [field, value] of Object.entries(query.where ?? {})) {
    if (value === undefined) continue
    if (!fields.includes(field)) {
      const known = fields.join(', ') || 'none'
      throw new StoreError('INDEX_UNKNOWN', `The log has no field "${field}". The fields here: ${known}.`)
    }
    conditions.push({ field, values: listOf(value).filter((one) => one !== undefined) })
  }
  return conditions
}

/** What matches, block by block, newest block first unless `reverse` is false. Blocks without a match are left out. */
export async function* selectRows<T>(
  blocks: LogBlocks<T>,
  view: LogView,
  conditions: readonly Condition[],
  query: LogQuery,
): AsyncIterable<Selection> {
  const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY, reverse = true } = query
  const { blockRows } = blocks.format
  const openFirst = view.next - (view.next % blockRows)
  const select = (first: number, facts: BlockFacts) => matchRows(first, facts, conditions, from, to)

  const headers = view.sealed.filter(({ minTime, maxTime }) => maxTime >= from && minTime < to)
  if (reverse) headers.reverse()
  const open = select(openFirst, openFacts(view, view.next - openFirst))
  if (reverse && open.count > 0) yield open
  for (let at = 0; at < headers.length; at += blocksAtOnce) {
    const some = headers.slice(at, at + blocksAtOnce)
    const needsTimes = ({ rows, minTime, maxTime }: BlockHeader) =>
      minTime < from || maxTime >= to || (rows < blockRows && conditions.length === 0)
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
  conditions: readonly Condition[],
  from: number,
  to: number,
): Selection {
  const [only] = conditions
  if (!facts.times && conditions.length === 0) {
    return { first, count: facts.size, rows: () => Array.from({ length: facts.size }, (_, row) => row) }
  }
  if (!facts.times && conditions.length === 1 && only?.values.length === 1) {
    const posting = facts.posting(only.field, only.values[0]!)
    return { first, count: posting?.count ?? 0, rows: () => posting?.rows() ?? [] }
  }
  const rows = intersect(facts, conditions, from, to)
  return { first, count: rows.length, rows: () => rows }
}

/** Marks say how many conditions a row has met so far; only rows that met all before can meet the next. */
function intersect(facts: BlockFacts, conditions: readonly Condition[], from: number, to: number): number[] {
  const marks = new Uint8Array(facts.size)
  for (const [met, { field, values }] of conditions.entries()) {
    for (const value of values) {
      const rows = facts.posting(field, value)?.rows() ?? []
      for (let at = 0; at < rows.length; at++) {
        const row = rows[at]!
        if (marks[row] === met) marks[row] = met + 1
      }
    }
  }
  const matching: number[] = []
  for (let row = 0; row < facts.size; row++) {
    if (marks[row] !== conditions.length) continue
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
  }
}

async function readFacts<T>(
  blocks: LogBlocks<T>,
  view: LogView,
  headers: readonly BlockHeader[],
  conditions: readonly Condition[],
  needsTimes: (header: BlockHeader) => boolean,
): Promise<BlockFacts[]> {
  const keys: string[] = []
  for (const header of headers) {
    if (needsTimes(header)) keys.push(blocks.keys.times(header.block))
    for (const { field } of conditions) keys.push(blocks.keys.posting(header.block, field))
  }
  const options = { valueEncoding: 'view', snapshot: view.snapshot } as const
  const values =
    keys.length === 0 ? [] : await blocks.backing.database.getMany<string, Uint8Array>(keys, options)
  const stored = new Map(keys.map((key, at) => [key, values[at]]))
  return headers.map((header) => {
    const times = stored.get(blocks.keys.times(header.block))
    return {
      size: blocks.format.blockRows,
      times: times && decodeTimes(times),
      posting(field, value) {
        const bytes = stored.get(blocks.keys.posting(header.block, field))
        return bytes && findPosting(bytes, value)
      },
    }
  })
}
