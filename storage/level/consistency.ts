import type { Disagreement } from '../index.ts'
import { compareCollection } from './consistency/collection.ts'
import { Comparison } from './consistency/comparison.ts'
import { compareLog } from './consistency/log.ts'
import { compareSequence } from './consistency/sequence.ts'
import { pathsOf } from './contents.ts'
import type { Database } from './group-commit.ts'
import type { LogFormat } from './log-blocks.ts'

/**
 * Compares what a database keeps twice: counts and index entries with rows, last numbers with entries, ends of logs with
 * their chunks. `repair` puts it right, by the rows. Reads all collections, and of logs only what leads to their rows.
 */
export async function compare(
  database: Database,
  format: LogFormat,
  { repair }: { readonly repair: boolean },
): Promise<Disagreement[]> {
  const found = new Comparison()
  for await (const path of pathsOf(database, 'c', '')) await compareCollection(database, path, found)
  for await (const path of pathsOf(database, 's', '')) await compareSequence(database, path, found)
  for await (const path of pathsOf(database, 'l', '')) await compareLog(database, path, format, found)
  if (repair) await found.write(database)
  return found.found
}
