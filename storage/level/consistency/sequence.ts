import type { Database } from '../group-commit.ts'
import { parseInteger, prefixRange } from '../keys.ts'
import type { Comparison } from './comparison.ts'

/** The number of the last entry, by the entries. Entries that are gone cannot be made again. */
export async function compareSequence(database: Database, path: string, found: Comparison): Promise<void> {
  const prefix = `s/${path}!`
  let last = 0
  let missing = 0
  for await (const key of database.keys(prefixRange(`${prefix}e`))) {
    const seq = parseInteger(key.slice(prefix.length + 1))
    missing += seq - last - 1
    last = seq
  }
  const noted = Number((await database.get(`${prefix}n`)) ?? 0)
  if (missing > 0) found.lament(path, `${missing} of its entries are missing`)
  if (noted === last) return
  found.mend(`${prefix}n`, last === 0 ? undefined : String(last))
  const lost = noted > last ? `; the entries behind it, up to ${noted}, are lost` : ''
  found.note(path, 1, `last number that was ${noted} where the last entry is ${last}${lost}`)
}
