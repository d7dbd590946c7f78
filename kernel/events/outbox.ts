import { z } from 'zod'
import { detach } from '../../kit/work/contain.ts'
import type { Collection, Store, Transaction } from '../../storage/index.ts'
import type { Occurrence } from '../events.ts'
import { eventActor, receive, sentOf } from './happening.ts'

const row = z.object({
  name: z.string(),
  alias: z.string().optional(),
  description: z.string(),
  timestamp: z.string(),
  actor: eventActor,
  cause: z.string().optional(),
  data: z.unknown(),
})
type Row = z.infer<typeof row>

/**
 * Stores occurrences until they are delivered, each in one batch with the changes that it comes from. Each is delivered at
 * least once, under one id, also when the process dies in between.
 */
export class Outbox {
  readonly #rows: Collection<Row>
  readonly #telling = new Map<string, Promise<void>>()
  #stop: () => void = () => {}

  constructor(store: Store) {
    this.#rows = store.collection('outbox', { schema: row })
  }

  /** Stores an occurrence with the other changes of a transaction. */
  put(transaction: Transaction, occurrence: Occurrence): void {
    transaction.put(this.#rows, occurrence.id, rowOf(occurrence))
  }

  /** Resolves when the occurrence is on disk. */
  async add(occurrence: Occurrence): Promise<void> {
    await this.#rows.put(occurrence.id, rowOf(occurrence))
  }

  /**
   * Delivers the stored occurrences, and those stored from now on. `tell` may return a promise that settles when all listeners
   * are done.
   */
  async open(tell: (occurrence: Occurrence) => Promise<void> | undefined): Promise<void> {
    const start = (id: string, stored: Row): void => {
      if (this.#telling.has(id)) return
      const telling = this.#tell(id, stored, tell).finally(() => this.#telling.delete(id))
      this.#telling.set(id, telling)
      detach('an event of a transaction', telling)
    }
    this.#stop = this.#rows.watch(({ id, row: stored }) => void (stored && start(id, stored)))
    for await (const [id, stored] of this.#rows.scan()) start(id, stored)
  }

  /** Delivers no more: occurrences stored from now on are delivered after the next start. Resolves when listeners are done. */
  async close(): Promise<void> {
    this.#stop()
    await Promise.allSettled(this.#telling.values())
  }

  async #tell(
    id: string,
    { alias, cause, ...stored }: Row,
    tell: (occurrence: Occurrence) => Promise<void> | undefined,
  ): Promise<void> {
    await tell(receive({ ...stored, id, alias, cause }))
    await this.#rows.delete(id)
  }
}

function rowOf(occurrence: Occurrence): Row {
  const { id: _, alias, cause, ...sent } = sentOf(occurrence)
  return { ...sent, ...(alias !== undefined && { alias }), ...(cause !== undefined && { cause }) }
}
