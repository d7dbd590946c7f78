import { z } from 'zod'
import type { Collection, Store } from '#kernel'

const member = z.object({ user: z.string(), set: z.string() })

/** Whose lines are in which set, so that an erasure finds them. */
export class Members {
  readonly #rows: Collection<z.infer<typeof member>>

  constructor(store: Store) {
    this.#rows = store.collection('members', {
      schema: member,
      indexes: { user: ({ user }) => user, set: ({ set }) => set },
    })
  }

  /** On disk when it resolves; costs a write only for a user that is new to the set. */
  async add(user: string, set: string): Promise<void> {
    const id = `${set}/${user}`
    if (!(await this.#rows.get(id))) await this.#rows.put(id, { user, set })
  }

  async setsOf(user: string): Promise<string[]> {
    const sets: string[] = []
    for await (const [, { set }] of this.#rows.scan({ index: 'user', equals: user })) sets.push(set)
    return sets
  }

  async forget(set: string): Promise<void> {
    for await (const [id] of this.#rows.scan({ index: 'set', equals: set })) await this.#rows.delete(id)
  }
}
