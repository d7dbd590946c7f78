import { z } from 'zod'
import type { Collection, Store } from '../../storage/index.ts'

const claimRecord = z.object({ owner: z.string(), claimed_at: z.number() })

/** A claim without an owner is left alone this long: its maker may be about to write the owner. */
const lapseMs = 60_000

/** Names that can be taken once only, such as addresses: of many who ask at once, one gets it. */
export class Claims {
  readonly #rows: Collection<z.infer<typeof claimRecord>>
  readonly #exists: (owner: string) => Promise<boolean>

  /** `exists` tells whether an owner was written; a claim of one that never was lapses after a minute. */
  constructor(store: Store, name: string, exists: (owner: string) => Promise<boolean>) {
    this.#rows = store.collection(name, { schema: claimRecord })
    this.#exists = exists
  }

  /** Takes the name for an owner that is written next; false when somebody has it. */
  async take(name: string, owner: string): Promise<boolean> {
    const claim = { owner, claimed_at: Date.now() }
    if (await this.#rows.create(name, claim)) return true
    const held = await this.#rows.get(name)
    if (held && (Date.now() - held.claimed_at < lapseMs || (await this.#exists(held.owner)))) return false
    const won = await this.#rows.update(name, (now) => (now?.owner === held?.owner ? claim : undefined))
    return won !== undefined
  }

  /** Gives a name back, if it is this owner's. */
  async release(name: string, owner: string): Promise<void> {
    const held = await this.#rows.get(name)
    if (held?.owner === owner) await this.#rows.delete(name)
  }
}
