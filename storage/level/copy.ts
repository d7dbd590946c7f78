import { mkdir } from 'node:fs/promises'
import { Level } from 'level'
import type { Backing } from './backing.ts'
import { openKey } from './parts.ts'
import { readingOn } from './reading-on.ts'

type Bytes = Level<Uint8Array, Uint8Array>

/** How many bytes are written at a time, and read from the database ahead. */
const batchBytes = 2 ** 20

const bytes = { keyEncoding: 'view', valueEncoding: 'view' } as const

/**
 * Writes everything that is on disk now into a new database in a folder, fsynced when it resolves. It is as one that was
 * closed: the key that tells an unclean end is left out. Resolves with the number of keys.
 */
export async function copyDatabase({ database, gate }: Backing, folder: string): Promise<number> {
  const snapshot = (database as unknown as Bytes).iterator({ ...bytes, highWaterMarkBytes: batchBytes })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const copy: Bytes = new Level(folder, { ...bytes, errorIfExists: true })
  const open = Buffer.from(openKey)
  let keys = 0
  let waiting: { type: 'put'; key: Uint8Array; value: Uint8Array }[] = []
  let size = 0
  const write = async (): Promise<void> => {
    await copy.batch(waiting, { sync: true })
    waiting = []
    size = 0
  }
  try {
    await copy.open()
    for await (const [key, value] of readingOn(gate, snapshot)) {
      if (open.equals(key)) continue
      waiting.push({ type: 'put', key, value })
      keys += 1
      size += key.length + value.length
      if (size >= batchBytes) await write()
    }
    await write()
  } finally {
    await snapshot.close()
    await copy.close()
  }
  return keys
}
