import { Level } from 'level'
import type { OddSums } from '../index.ts'
import { pathsOf } from './contents.ts'
import type { Database } from './group-commit.ts'
import { prefixRange } from './keys.ts'
import { LogKeys } from './log-keys.ts'
import { parseTotals } from './totals.ts'

/** What takes the place of a stored text: nothing when it is not needed any more. */
type Mend = (text: string) => { readonly isSound: boolean; readonly mended: string | undefined }

const mendCell: Mend = (text) => {
  const { totals, isSound } = parseTotals(text)
  return { isSound, mended: JSON.stringify(totals) }
}

const mendCounter: Mend = (text) => ({ isSound: Number.isSafeInteger(Number(text)), mended: undefined })

/**
 * Finds sums that are not whole numbers in a folder that no process has open: totals of logs, and counters.
 * With `repair` they are taken out, so that counting begins anew there; nothing else is touched.
 */
export async function checkSums(
  folder: string,
  { repair }: { readonly repair: boolean },
): Promise<OddSums[]> {
  const database: Database = new Level<string, string>(folder)
  await database.open()
  try {
    const found: OddSums[] = []
    for await (const part of pathsOf(database, 'l', ''))
      found.push({ part, sums: await mendAll(database, new LogKeys(part).cells, mendCell, repair) })
    for await (const part of pathsOf(database, 'n', ''))
      found.push({ part, sums: await mendAll(database, `n/${part}!`, mendCounter, repair) })
    return found.filter(({ sums }) => sums > 0)
  } finally {
    await database.close()
  }
}

/** Returns how many of the texts under this prefix are not sound. */
async function mendAll(database: Database, prefix: string, mend: Mend, repair: boolean): Promise<number> {
  const batch = database.batch()
  let odd = 0
  for await (const [key, text] of database.iterator(prefixRange(prefix))) {
    const { isSound, mended } = mend(text)
    if (isSound) continue
    odd += 1
    if (mended === undefined) batch.del(key)
    else batch.put(key, mended)
  }
  if (repair) await batch.write({ sync: true })
  else await batch.close()
  return odd
}
