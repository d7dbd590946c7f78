import type { IndexAnswer } from '../index.ts'
import type { Backing } from './backing.ts'
import { beginningsOf, listOf, prefixRange, sortableEntry, terminator } from './keys.ts'
import { decodeRow, encodeRow, type IndexEntries } from './stored-row.ts'

export type Indexes<T> = readonly (readonly [name: string, values: (row: T) => IndexAnswer])[]

/** Where the rows, index entries and counts of one collection lie. */
export class CollectionKeys {
  readonly meta: string
  readonly rows: string
  readonly count: string
  readonly #prefix: string

  constructor(path: string) {
    this.#prefix = `c/${path}!`
    this.meta = `${this.#prefix}m`
    this.rows = `${this.#prefix}r!`
    this.count = `${this.#prefix}n`
  }

  row(id: string): string {
    return this.rows + id
  }

  /** The entries of one index, or of one value of it. */
  entries(index: string, value?: string): string {
    return `${this.#prefix}i${index}!${value === undefined ? '' : value + terminator}`
  }

  countOf(index: string, value = ''): string {
    return `${this.count}${index}!${value}`
  }

  /** The counts that an entry is in. */
  countsOf(index: string, value: string): string[] {
    return ['', ...beginningsOf(value)].map((beginning) => this.countOf(index, beginning))
  }

  idOfEntry(key: string): string {
    return key.slice(key.lastIndexOf(terminator) + 1)
  }

  get allEntries(): string {
    return `${this.#prefix}i`
  }
}

/** The encoded values under which each index lists a row. */
export function entriesOf<T>(indexes: Indexes<T>, row: T): IndexEntries {
  const entries: Record<string, string[]> = {}
  for (const [name, valuesOf] of indexes) {
    const values = listOf(valuesOf(row)).map(sortableEntry)
    entries[name] = [...new Set(values.filter((value) => value !== undefined))]
  }
  return entries
}

/** A row as it is to be written, and the encoded values that indexes list it under. */
export interface EncodedRow {
  readonly text: string
  readonly entries: IndexEntries
}

/** Throws what an index function throws, and for what is not JSON. */
export function encode<T>(version: number, indexes: Indexes<T>, row: T): EncodedRow {
  const entries = entriesOf(indexes, row)
  return { text: encodeRow(version, entries, row), entries }
}

/** Puts a row, its index entries and the counts into the group that is waiting, all in one turn. */
export function writeRow(
  { writer }: Pick<Backing, 'writer'>,
  keys: CollectionKeys,
  id: string,
  next: EncodedRow | undefined,
): void {
  const text = next?.text
  const before = writer.read(keys.row(id))
  const was = before === undefined ? {} : (decodeRow(before)?.entries ?? {})
  const is = next?.entries ?? {}
  const count = (index: string, value: string, amount: number): void => {
    for (const key of keys.countsOf(index, value)) writer.add(key, amount)
  }
  for (const [index, values] of Object.entries(was)) {
    for (const value of values) {
      if (is[index]?.includes(value)) continue
      writer.delete(keys.entries(index, value) + id)
      count(index, value, -1)
    }
  }
  for (const [index, values] of Object.entries(is)) {
    for (const value of values) {
      if (was[index]?.includes(value)) continue
      writer.put(keys.entries(index, value) + id, '')
      count(index, value, 1)
    }
  }
  if (text !== undefined) writer.put(keys.row(id), text)
  else writer.delete(keys.row(id))
  const change = Number(text !== undefined) - Number(before !== undefined)
  if (change !== 0) writer.add(keys.count, change)
}

/**
 * Gives a row whose first line is damaged a new one, found by reading the whole index, so that it can be replaced
 * or deleted without leaving entries behind. The damaged row stays unreadable.
 */
export async function repairEntries(
  { database, writer }: Backing,
  keys: CollectionKeys,
  id: string,
): Promise<void> {
  const damaged = writer.read(keys.row(id))
  if (damaged === undefined || decodeRow(damaged)) return
  await writer.settled(keys.row(id))
  const found: Record<string, string[]> = {}
  for await (const key of database.keys(prefixRange(keys.allEntries))) {
    if (keys.idOfEntry(key) !== id) continue
    const [index = '', value = ''] = splitEntry(key.slice(keys.allEntries.length, -id.length - 1))
    found[index] = [...(found[index] ?? []), value]
  }
  if (writer.read(keys.row(id)) === damaged)
    writer.put(keys.row(id), `${JSON.stringify([0, found])}\n${damaged}`)
}

function splitEntry(text: string): [index: string, value: string] {
  const end = text.indexOf('!')
  return [text.slice(0, end), text.slice(end + 1)]
}
