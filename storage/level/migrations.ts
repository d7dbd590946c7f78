import { StoreError } from '../errors.ts'
import type { OlderRow } from '../index.ts'
import type { Backing } from './backing.ts'
import { prefixRange } from './keys.ts'
import { type CollectionNote, noted, parseCollectionNote } from './notes.ts'
import { type CollectionKeys, encode, repairEntries, writeRow } from './row-writer.ts'
import type { Shape } from './shape.ts'
import { decodeRow } from './stored-row.ts'

const rowsPerCommit = 200

/**
 * Brings every row to the current version and set of indexes. Rows say their own version, so a pass that was cut
 * short goes on where it stopped. The shape is noted when the pass is over.
 */
export async function migrateRows<T>(
  backing: Backing,
  keys: CollectionKeys,
  path: string,
  shape: Shape<T>,
): Promise<void> {
  const { writer } = backing
  const names = shape.indexes.map(([name]) => name).sort()
  const stored = writer.read(keys.meta)
  const meta = stored === undefined ? undefined : noted(keys.meta, stored, parseCollectionNote)
  if (meta && meta.version > shape.version) {
    const message = `${path} has rows of version ${meta.version}, but this program reads up to version ${shape.version}. Run the newer program.`
    throw new StoreError('VERSION_AHEAD', message)
  }
  const isCurrent =
    meta?.version === shape.version && meta.failed === 0 && meta.indexes.join() === names.join()
  if (isCurrent) return

  let failed = 0
  if (meta) {
    await writer.commit()
    for await (const batch of olderRows(backing, keys, shape.version, names)) {
      await shape.prepare?.(batch.flatMap(({ older }) => older ?? []))
      for (const one of batch) {
        if (!migrateRow(backing, keys, one, shape)) failed++
      }
      await writer.commit()
    }
  }
  if (failed > 0) {
    const message = `${failed} rows could not be brought to version ${shape.version}. They are tried again at the next start.`
    backing.report({ code: 'ROW_UNREADABLE', part: path, message })
  }
  const note: CollectionNote = { version: shape.version, indexes: names, failed }
  writer.put(keys.meta, JSON.stringify(note))
  await writer.commit()
}

/** A row that is not as it should be; `older` is missing where it cannot be read. */
interface Pending {
  readonly id: string
  readonly text: string
  readonly older: OlderRow | undefined
}

async function* olderRows(
  backing: Backing,
  keys: CollectionKeys,
  version: number,
  names: readonly string[],
): AsyncGenerator<readonly Pending[]> {
  let batch: Pending[] = []
  for await (const [key, text] of backing.database.iterator(prefixRange(keys.rows))) {
    if (isMigrated(text, version, names)) continue
    const id = key.slice(keys.rows.length)
    await repairEntries(backing, keys, id)
    const now = backing.writer.read(keys.row(id)) ?? ''
    batch.push({ id, text: now, older: olderRow(now) })
    if (batch.length < rowsPerCommit) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function olderRow(text: string): OlderRow | undefined {
  const stored = decodeRow(text)
  try {
    return stored && { row: JSON.parse(stored.json), version: stored.version }
  } catch {
    return undefined
  }
}

function isMigrated(text: string, version: number, names: readonly string[]): boolean {
  const row = decodeRow(text)
  return row?.version === version && Object.keys(row.entries).sort().join() === names.join()
}

/** False for a row that cannot be brought up, or that was written meanwhile. */
function migrateRow<T>(
  backing: Backing,
  keys: CollectionKeys,
  { id, text, older }: Pending,
  shape: Shape<T>,
): boolean {
  if (!older || backing.writer.read(keys.row(id)) !== text) return false
  try {
    const { version, indexes } = shape
    const row = shape.parse(older.version === version ? older.row : shape.migrate(older.row, older.version))
    writeRow(backing, keys, id, encode(version, indexes, row))
    return true
  } catch {
    return false
  }
}
