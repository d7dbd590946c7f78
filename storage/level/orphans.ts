import type { Database } from './group-commit.ts'
import { parseInteger } from './keys.ts'
import type { LogFormat } from './log-blocks.ts'
import type { LogKeys } from './log-keys.ts'

interface Extent {
  readonly format: LogFormat
  /** Number of the next row. */
  readonly next: number
  /** The blocks that have an index. */
  readonly indexed: ReadonlySet<number>
}

/** The full blocks of a log that have rows and no index. Looks at one key for each run of blocks without one. */
export async function orphansOf(
  database: Database,
  keys: LogKeys,
  { format, next, indexed }: Extent,
): Promise<number[]> {
  const chunks = format.blockRows / format.chunkRows
  const end = Math.floor(next / format.blockRows)
  const orphans: number[] = []
  for (let block = 0; block < end; ) {
    let to = block
    while (to < end && !indexed.has(to)) to += 1
    const range = { gte: keys.rows(block * chunks), lt: keys.rows(to * chunks) }
    const [key] = to === block ? [] : await database.keys({ ...range, limit: 1 }).all()
    const orphan = key === undefined ? to : Math.floor(parseInteger(key.slice(-12)) / chunks)
    if (key !== undefined) orphans.push(orphan)
    block = orphan + 1
  }
  return orphans
}
