import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { ByteReader } from './byte-reader.ts'
import { gapsIn, recordsIn } from './records.ts'

/**
 * The numbers of the tables that belong to a database, by its directory; undefined where that cannot be read in whole. Others may lie
 * in the folder: LevelDB leaves a table unfinished when it is closed or killed while it merges tables, and deletes it when it opens.
 */
export async function tablesInUse(folder: string): Promise<ReadonlySet<number> | undefined> {
  const read = (name: string) => readFile(path.join(folder, name)).catch(() => undefined)
  const current = (await read('CURRENT'))?.toString().trim() ?? ''
  const directory = /^MANIFEST-\d+$/.test(current) ? await read(current) : undefined
  return directory && gapsIn(directory).length === 0 ? tablesNamed(directory) : undefined
}

/** Undefined for a record of another kind than LevelDB writes. */
function tablesNamed(directory: Buffer): ReadonlySet<number> | undefined {
  const tables = new Set<number>()
  try {
    for (const record of recordsIn(directory))
      for (const reader = new ByteReader(record); !reader.isOver; ) readField(reader, tables)
    return tables
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Reads one field of a change to the directory, by its tag in LevelDB's `version_edit.cc`. */
function readField(reader: ByteReader, tables: Set<number>): void {
  const text = (): Buffer => reader.take(reader.varint())
  const tag = reader.varint()
  switch (tag) {
    // The name of the order of keys.
    case 1:
      text()
      return
    // Numbers of write-ahead files, of the next file and of the last change.
    case 2:
    case 3:
    case 4:
    case 9:
      reader.varint()
      return
    // Where merging goes on in a level.
    case 5:
      reader.varint()
      text()
      return
    // A level and the table that is gone from it.
    case 6:
      reader.varint()
      tables.delete(reader.varint())
      return
    // A level and the table that came to it, with its size, its first and its last key.
    case 7:
      reader.varint()
      tables.add(reader.varint())
      reader.varint()
      text()
      text()
      return
    default:
      throw new RangeError(`the directory has a field ${tag}`)
  }
}
