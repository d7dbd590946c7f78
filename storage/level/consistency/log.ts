import { decodeLines } from '../chunk.ts'
import type { Database } from '../group-commit.ts'
import { parseInteger, prefixRange } from '../keys.ts'
import type { LogFormat } from '../log-blocks.ts'
import { LogKeys } from '../log-keys.ts'
import { type LogNote, parseHeader, parseLogNote } from '../notes.ts'
import { orphansOf } from '../orphans.ts'
import type { Comparison } from './comparison.ts'

/**
 * The number of the next row of a log, by its chunks, and the index of its blocks, by what belongs to one. A block whose
 * index is not whole loses its header: its rows are indexed anew when the log is used.
 */
export async function compareLog(
  database: Database,
  path: string,
  format: LogFormat,
  found: Comparison,
): Promise<void> {
  const keys = new LogKeys(path)
  const meta = await database.get(keys.meta)
  const known = meta === undefined ? undefined : parseLogNote(meta)
  const { chunkRows, blockRows, next: end } = known ?? { ...format, next: 0 }
  const last = await lastChunk(database, keys)
  const next = Math.max(end, last ? last.chunk * chunkRows + last.lines : 0)
  const isDamaged = meta !== undefined && known === undefined
  if (next > end || isDamaged) {
    const note: LogNote = { chunkRows, blockRows, next }
    found.mend(keys.meta, JSON.stringify(note))
  }
  found.note(path, isDamaged ? 1 : 0, 'note of its end that could not be read')
  found.note(path, next - end, 'rows behind its noted end')
  const indexed = new Set<number>()
  for await (const [key, text] of database.iterator(prefixRange(keys.headers))) {
    if (await isWhole(database, keys, text)) indexed.add(parseInteger(key.slice(keys.headers.length)))
    else found.mend(key, undefined)
  }
  const orphans = await orphansOf(database, keys, { format: { chunkRows, blockRows }, next, indexed })
  found.note(path, orphans.length, 'blocks with an incomplete index; their rows are indexed again')
}

async function lastChunk(
  database: Database,
  keys: LogKeys,
): Promise<{ chunk: number; lines: number } | undefined> {
  const [key] = await database.keys({ ...prefixRange(keys.chunks), reverse: true, limit: 1 }).all()
  if (key === undefined) return undefined
  const stored = await database.get<string, Uint8Array>(key, { valueEncoding: 'view' })
  return { chunk: parseInteger(key.slice(keys.chunks.length)), lines: decodeLines(stored).length }
}

async function isWhole(database: Database, keys: LogKeys, text: string): Promise<boolean> {
  const header = parseHeader(text)
  if (!header) return false
  const { block, fields, numbers = [] } = header
  const needed = [
    keys.ids(block),
    keys.times(block),
    ...fields.map((field) => keys.posting(block, field)),
    ...numbers.map((name) => keys.numbers(block, name)),
  ]
  return (await database.hasMany(needed)).every(Boolean)
}
