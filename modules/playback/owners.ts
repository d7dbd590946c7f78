import path from 'node:path'
import { z } from 'zod'
import type { Collection, Store } from '#kernel'
import { Cassette, type Kept } from './cassette.ts'

const row = z.object({ user_id: z.string(), cassette: z.string(), file: z.string() })

/** Whose calls the recordings of this gateway are of, which their files do not tell, so that they go with a person's data. */
export class Owners {
  readonly #folder: string
  readonly #rows: Collection<z.infer<typeof row>>

  /** `folder`: where the cassettes are. */
  constructor(store: Store, folder: string) {
    this.#folder = folder
    this.#rows = store.collection('recordings', { schema: row, indexes: { user: ({ user_id }) => user_id } })
  }

  /** Has `keep` write a file whose owner is on disk before it. */
  async keeping(
    user_id: string | undefined,
    cassette: string,
    file: string,
    keep: () => Promise<Kept>,
  ): Promise<Kept> {
    if (user_id === undefined) return keep()
    const id = `${cassette}/${file}`
    const before = await this.#rows.get(id)
    await this.#rows.put(id, { user_id, cassette, file })
    const reason = await keep()
    // An earlier file is still there then, and whose it was.
    if (reason && before) await this.#rows.put(id, before)
    else if (reason) await this.#rows.delete(id)
    return reason
  }

  countOf(user: string): Promise<number> {
    return this.#rows.count({ index: 'user', equals: user })
  }

  /** The files go first: what is cut off in between is found again. */
  async eraseOf(user: string): Promise<number> {
    let erased = 0
    for await (const [id, { cassette, file }] of this.#rows.scan({ index: 'user', equals: user })) {
      await new Cassette(path.join(this.#folder, cassette)).delete(file)
      if (await this.#rows.delete(id)) erased += 1
    }
    return erased
  }
}
