import { z } from 'zod'
import type { Collection, Store, Subject, TraceSummary } from '#kernel'

/** A user's lines, or a tenant's, are in a set. */
const member = z.object({ user: z.string().optional(), tenant: z.string().optional(), set: z.string() })

/** Whose lines are in which set, so that an erasure finds them. */
export class Members {
  readonly #rows: Collection<z.infer<typeof member>>

  constructor(store: Store) {
    this.#rows = store.collection('members', {
      schema: member,
      indexes: { user: ({ user }) => user, tenant: ({ tenant }) => tenant, set: ({ set }) => set },
    })
  }

  /** Notes whose call is in a set; on disk when it resolves. Costs a write only for those that are new to the set. */
  async add({ user_id: user, tenant }: Pick<TraceSummary, 'user_id' | 'tenant'>, set: string): Promise<void> {
    if (user !== undefined) await this.#add(`${set}/${user}`, { user, set })
    if (tenant !== undefined) await this.#add(`${set}/tenant/${tenant}`, { tenant, set })
  }

  async setsOf({ kind, id }: Subject): Promise<string[]> {
    const sets: string[] = []
    for await (const [, { set }] of this.#rows.scan({ index: kind, equals: id })) sets.push(set)
    return sets
  }

  async forget(set: string): Promise<void> {
    for await (const [id] of this.#rows.scan({ index: 'set', equals: set })) await this.#rows.delete(id)
  }

  async #add(id: string, row: z.infer<typeof member>): Promise<void> {
    if (!(await this.#rows.get(id))) await this.#rows.put(id, row)
  }
}
