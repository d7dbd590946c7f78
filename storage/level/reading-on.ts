import { StoreError } from '../errors.ts'
import { asDamage } from './damage.ts'
import type { Gate } from './gate.ts'

const notOpen = ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN', 'LEVEL_SNAPSHOT_NOT_OPEN']

/**
 * Items that are read from a snapshot, at the reader's own pace. Throws `STORE_CLOSED` when the store is closed in between, and
 * `STORE_FAILED` when it was opened again, which ends all snapshots.
 */
export async function* readingOn<T>(gate: Gate, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    for await (const item of items) {
      yield item
      gate.check()
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && notOpen.includes(String(error.code))))
      throw asDamage(error)
    gate.check()
    const message =
      'The store was opened again while this was read, as the disk had refused a write. Ask again.'
    throw new StoreError('STORE_FAILED', message, error)
  }
}
