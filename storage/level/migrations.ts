import { StoreError } from '../errors.ts'
import type { Backing } from './backing.ts'
import { prefixRange } from './keys.ts'
import { type CollectionKeys, entriesOf, repairEntries, writeRow } from './row-writer.ts'
import type { Shape } from './shape.ts'
import { decodeRow } from './stored-row.ts'

const rowsPerCommit = 200

/** The shape that all rows of a collection have, but for those that failed to reach it. */
interface Meta {
  readonly version: number
  readonly indexes: readonly string[]
  readonly failed: number
}

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
  const { database, writer } = backing
  const names = shape.indexes.map(([name]) => name).sort()
  const stored = writer.read(keys.meta)
  const meta: Meta | undefined = stored === undefined ? undefined : JSON.parse(stored)
  if (meta && meta.version > shape.version) {
    const message = `${path} holds rows of version ${meta.version}, and this program knows ${shape.version}. Run the newer program.`
    throw new StoreError('VERSION_AHEAD', message)
  }
  const isCurrent =
    meta?.version === shape.version && meta.failed === 0 && meta.indexes.join() === names.join()
  if (isCurrent) return

  let failed = 0
  let changed = 0
  if (meta) {
    await writer.commit()
    for await (const [key, text] of database.iterator(prefixRange(keys.rows))) {
      const id = key.slice(keys.rows.length)
      if (isMigrated(text, shape.version, names)) continue
      if (!decodeRow(text)) await repairEntries(backing, keys, id)
      if (migrateRow(backing, keys, id, shape)) changed++
      else failed++
      if (changed % rowsPerCommit === 0) await writer.commit()
    }
  }
  if (failed > 0) {
    const message = `${failed} rows could not be brought to version ${shape.version}. They are tried again at the next start.`
    backing.report({ code: 'ROW_UNREADABLE', part: path, message })
  }
  writer.put(keys.meta, JSON.stringify({ version: shape.version, indexes: names, failed } satisfies Meta))
  await writer.commit()
}

function isMigrated(text: string, version: number, names: readonly string[]): boolean {
  const row = decodeRow(text)
  return row?.version === version && Object.keys(row.entries).sort().join() === names.join()
}

function migrateRow<T>(backing: Backing, keys: CollectionKeys, id: string, shape: Shape<T>): boolean {
  const stored = decodeRow(backing.writer.read(keys.row(id)) ?? '')
  if (!stored) return false
  try {
    const old: unknown = JSON.parse(stored.json)
    const row = shape.parse(stored.version === shape.version ? old : shape.migrate(old, stored.version))
    const { version, indexes } = shape
    writeRow(backing, keys, id, { version, entries: entriesOf(indexes, row), row })
    return true
  } catch {
    return false
  }
}
