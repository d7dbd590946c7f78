import type { Database } from '../group-commit.ts'
import { prefixRange, terminator } from '../keys.ts'
import { type CollectionNote, parseCollectionNote } from '../notes.ts'
import { CollectionKeys } from '../row-writer.ts'
import { decodeRow } from '../stored-row.ts'
import type { Comparison } from './comparison.ts'

/** The index entries and counts of a collection, by its rows. A row that cannot be read keeps those it has. */
export async function compareCollection(database: Database, path: string, found: Comparison): Promise<void> {
  const keys = new CollectionKeys(path)
  const { entries, unreadable, rows } = await expectedOf(database, keys)
  const counts = new Map<string, number>()
  const count = (key: string, amount = 1): void => void counts.set(key, (counts.get(key) ?? 0) + amount)
  if (rows > 0) count(keys.count, rows)
  let stray = 0
  for await (const key of database.keys(prefixRange(keys.allEntries))) {
    const isRight = entries.delete(key)
    if (isRight || unreadable.has(keys.idOfEntry(key))) countEntry(keys, key, count)
    else {
      stray += 1
      found.mend(key, undefined)
    }
  }
  for (const key of entries) {
    countEntry(keys, key, count)
    found.mend(key, '')
  }
  found.note(path, stray, 'index entries without a row')
  found.note(path, entries.size, 'rows that an index did not have')
  let wrong = 0
  for await (const [key, text] of database.iterator(prefixRange(keys.count))) {
    if (Number(text) !== counts.get(key)) {
      wrong += 1
      found.mend(key, counts.has(key) ? String(counts.get(key)) : undefined)
    }
    counts.delete(key)
  }
  for (const [key, value] of counts) found.mend(key, String(value))
  found.note(path, wrong + counts.size, 'counts that were not those of the rows')
  const meta = await database.get(keys.meta)
  if (meta === undefined ? rows === 0 : parseCollectionNote(meta)) return
  const note: CollectionNote = { version: 0, indexes: [], failed: 0 }
  found.mend(keys.meta, JSON.stringify(note))
  found.note(path, 1, 'missing note of its version')
}

interface Expected {
  readonly entries: Set<string>
  /** Ids of rows whose first line cannot be read. */
  readonly unreadable: ReadonlySet<string>
  readonly rows: number
}

async function expectedOf(database: Database, keys: CollectionKeys): Promise<Expected> {
  const entries = new Set<string>()
  const unreadable = new Set<string>()
  let rows = 0
  for await (const [key, text] of database.iterator(prefixRange(keys.rows))) {
    rows += 1
    const id = key.slice(keys.rows.length)
    const row = decodeRow(text)
    if (!row) unreadable.add(id)
    for (const [index, values] of Object.entries(row?.entries ?? {}))
      for (const value of values) entries.add(keys.entries(index, value) + id)
  }
  return { entries, unreadable, rows }
}

function countEntry(keys: CollectionKeys, entry: string, count: (key: string) => void): void {
  const place = entry.slice(keys.allEntries.length, entry.lastIndexOf(terminator))
  const end = place.indexOf('!')
  for (const key of keys.countsOf(place.slice(0, end), place.slice(end + 1))) count(key)
}
