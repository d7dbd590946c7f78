import { open } from 'node:fs/promises'
import path from 'node:path'
import { fittedRow } from '../../../plugins/observe/fitted.ts'
import type { UnfitRow } from '../../../storage/index.ts'
import { checkRows } from '../../../storage/level.ts'
import { type Check, ok, warning } from './result.ts'

/** The log in which the plugin `observe` has its traces. */
const part = 'plugins/observe/traces'

/**
 * Whether every trace in the store can be shown. With `repair`, those that cannot are mended or deleted, once they are in a
 * file beside the store as they were. The store is one that no process has open.
 */
export async function checkTraces(dataDir: string, repair: boolean): Promise<Check> {
  const folder = path.join(dataDir, 'db')
  const copy = path.join(
    dataDir,
    `traces-before-repair-${new Date().toISOString().replaceAll(':', '-')}.jsonl`,
  )
  const keep = (rows: readonly UnfitRow[]): Promise<void> => append(copy, rows)
  const { mended, lost } = await checkRows(folder, part, { fit: fittedRow, ...(repair && { keep }) })
  if (mended + lost === 0) return ok('traces', 'All traces can be read.')
  if (repair) {
    const message = `Traces that could not be read: ${mended} are repaired, and ${lost} deleted. A copy of all is in ${copy}.`
    return ok('traces', message)
  }
  const how = `\`switchyard doctor --repair\` repairs ${mended} of them and deletes ${lost}, and keeps a copy of all.`
  return warning('traces', `${mended + lost} traces cannot be read and are left out of lists. ${how}`)
}

/** They may hold bodies of calls: only the owner of the data folder reads them. Resolves when they are on disk. */
async function append(file: string, rows: readonly UnfitRow[]): Promise<void> {
  const handle = await open(file, 'a', 0o600)
  try {
    await handle.writeFile(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await handle.sync()
  } finally {
    await handle.close()
  }
}
