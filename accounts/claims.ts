import { z } from 'zod'
import type { Collection, Store, Transaction } from '../storage/index.ts'

const claimRecord = z.object({ owner: z.string(), claimed_at: z.number() })

/** Names that can be taken once only, such as addresses, each in the transaction that writes its owner. */
export class Claims<O> {
  readonly #rows: Collection<z.infer<typeof claimRecord>>
  readonly #owners: Collection<O>

  /** A claim whose owner is not among these counts for nothing. */
  constructor(store: Store, name: string, owners: Collection<O>) {
    this.#rows = store.collection(name, { schema: claimRecord })
    this.#owners = owners
  }

  /** Takes the name for an owner that is written in the same transaction; false when the name is taken. */
  take(transaction: Transaction, name: string, owner: string): boolean {
    const held = transaction.get(this.#rows, name)
    if (held && transaction.get(this.#owners, held.owner)) return false
    transaction.put(this.#rows, name, { owner, claimed_at: Date.now() })
    return true
  }

  /** Gives a name back, if it is this owner's. */
  release(transaction: Transaction, name: string, owner: string): void {
    if (transaction.get(this.#rows, name)?.owner === owner) transaction.delete(this.#rows, name)
  }
}
