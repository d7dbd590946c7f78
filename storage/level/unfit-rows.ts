import { Level } from 'level'
import type { UnfitRow } from '../index.ts'
import { apart, decodeBodies, decodeLines, encodeBodies, encodeLines } from './chunk.ts'
import { decompress } from './compression.ts'
import type { Database } from './group-commit.ts'
import { parseInteger, prefixRange } from './keys.ts'
import { LogKeys } from './log-keys.ts'
import { noted, parseLogNote } from './notes.ts'

/** What a row becomes: itself when it fits, another one that does, or undefined when nothing can be made of it. */
export type Fit = (row: unknown) => unknown

export interface RowCheck {
  readonly fit: Fit
  /** Without it nothing is changed. Resolves when these rows are kept as they were; they are replaced or deleted then. */
  readonly keep?: (rows: readonly UnfitRow[]) => Promise<void>
}

type Batch = ReturnType<Database['batch']>

/**
 * Examines the rows of a log in a folder that no process has open, and returns how many do not fit. With `keep`, each is
 * replaced by what `fit` makes of it, which has its id and time, or deleted with its body. The index of their blocks is
 * made again when the log is used; totals stay as they are.
 */
export async function checkRows(
  folder: string,
  part: string,
  { fit, keep }: RowCheck,
): Promise<{ mended: number; lost: number }> {
  const database: Database = new Level<string, string>(folder)
  await database.open()
  try {
    const keys = new LogKeys(part)
    const meta = await database.get(keys.meta)
    const found = { mended: 0, lost: 0 }
    if (meta === undefined) return found
    const { chunkRows, blockRows } = noted(keys.meta, meta, parseLogNote)
    const stored = { ...prefixRange(keys.chunks), valueEncoding: 'view' } as const
    for await (const [key, value] of database.iterator<string, Uint8Array>(stored)) {
      const chunk = parseInteger(key.slice(keys.chunks.length))
      const lines = decodeLines(value)
      const changes = changesOf(lines, fit)
      if (changes.length === 0) continue
      const lost = changes.filter(({ to }) => to === '').length
      found.lost += lost
      found.mended += changes.length - lost
      if (!keep) continue
      const batch = database.batch()
      const rows = await replace(database, batch, { keys, chunk, chunkRows, lines, changes })
      batch.del(keys.header(Math.floor((chunk * chunkRows) / blockRows)))
      await keep(rows)
      await batch.write({ sync: true })
    }
    return found
  } finally {
    await database.close()
  }
}

interface LineChange {
  /** Place in the chunk. */
  readonly at: number
  /** Empty when the row goes. */
  readonly to: string
}

function changesOf(lines: readonly string[], fit: Fit): LineChange[] {
  return lines.flatMap((line, at): LineChange[] => {
    if (line === '') return []
    const row = parsed(line)
    const fitting = row === undefined ? undefined : fit(row)
    if (fitting === undefined) return [{ at, to: '' }]
    return fitting === row ? [] : [{ at, to: JSON.stringify(fitting) }]
  })
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

interface Place {
  readonly keys: LogKeys
  readonly chunk: number
  readonly chunkRows: number
  readonly lines: readonly string[]
  readonly changes: readonly LineChange[]
}

/** Puts the changes of a chunk into a batch; returns the rows as they were. */
async function replace(
  database: Database,
  batch: Batch,
  { keys, chunk, chunkRows, lines, changes }: Place,
): Promise<UnfitRow[]> {
  const view = { valueEncoding: 'view' } as const
  const slots = decodeBodies(await database.get<string, Uint8Array>(keys.bodies(chunk), view))
  const bodies = Array.from(lines, (_, at) => slots[at])
  const after = [...lines]
  const rows: UnfitRow[] = []
  for (const { at, to } of changes) {
    const slot = bodies[at]
    const own = keys.largeBody(chunk * chunkRows + at)
    const large = slot === apart ? await database.get<string, Uint8Array>(own, view) : undefined
    const body = slot === apart ? large && decompress(large) : slot
    rows.push({ line: lines[at]!, ...(body !== undefined && { body }) })
    after[at] = to
    if (to !== '') continue
    bodies[at] = undefined
    if (slot === apart) batch.del(own)
  }
  batch.put<string, string | Uint8Array>(keys.rows(chunk), encodeLines(after), view)
  const encoded = encodeBodies(bodies)
  if (encoded === undefined) batch.del(keys.bodies(chunk))
  else batch.put<string, string | Uint8Array>(keys.bodies(chunk), encoded, view)
  return rows
}
