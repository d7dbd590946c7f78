import { isDeepStrictEqual } from 'node:util'
import type { Store, Transaction } from '../index.ts'
import { marked } from './checked-row.ts'
import type { HostCollection } from './host-collection.ts'
import type { HostSequence } from './host-sequence.ts'
import type { CrossingTransaction, Refreshed } from './messages.ts'

/** The parts of a thread, by their numbers. */
interface Parts {
  collection(part: number): HostCollection
  sequence(part: number): HostSequence
}

/**
 * Makes the changes of a transaction that ran in another thread, if all that it read still is so; else tells what it is. It is
 * done when all watchers have received it.
 */
export async function applied(
  store: Store,
  crossing: CrossingTransaction,
  parts: Parts,
): Promise<Refreshed | undefined> {
  const refreshed = await store.transaction((transaction) => {
    const now = reread(transaction, crossing, parts)
    if (!isAsRead(crossing, now)) return now
    for (const { part, id, checked } of crossing.writes) {
      const { rows } = parts.collection(part)
      if (checked) transaction.put(rows, id, marked(checked.row, checked))
      else transaction.delete(rows, id)
    }
    for (const { part, entries } of crossing.entries)
      for (const entry of entries) transaction.append(parts.sequence(part).entries, () => entry)
    return undefined
  })
  if (!refreshed) await Promise.all(crossing.writes.map(({ part, id }) => parts.collection(part).heard(id)))
  return refreshed
}

const reread = (transaction: Transaction, { rows, ends }: CrossingTransaction, parts: Parts): Refreshed => ({
  rows: rows.map(({ part, id }) => transaction.get(parts.collection(part).rows, id)),
  ends: ends.map(({ part }) => transaction.end(parts.sequence(part).entries)),
})

function isAsRead({ rows, ends }: CrossingTransaction, now: Refreshed): boolean {
  return (
    rows.every(({ isKnown, row }, at) => isKnown && isDeepStrictEqual(row, now.rows[at])) &&
    ends.every(({ isKnown, end }, at) => isKnown && isDeepStrictEqual(end, now.ends[at]))
  )
}
