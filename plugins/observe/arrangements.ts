import { z } from 'zod'
import type { Arranged, Collection, Store } from '#kernel'

const record = z.object({
  /** When the process began whose generation this is, in milliseconds since the epoch. */
  started_at: z.int(),
  generation: z.int(),
  /** When its first call settled. */
  at: z.int(),
  modules: z.array(z.custom<Arranged>()),
})

type Record = z.infer<typeof record>

/** Arrangements kept; those of older calls are forgotten. */
const most = 1000

/** How the chain was arranged for each generation that had calls, so that these can be explained later. */
export class Arrangements {
  readonly #records: Collection<Record>
  readonly #startedAt: number
  readonly #find: (generation: number) => readonly Arranged[] | undefined
  readonly #kept = new Set<number>()

  constructor(
    store: Store,
    startedAt: number,
    find: (generation: number) => readonly Arranged[] | undefined,
  ) {
    this.#records = store.collection('arrangements', {
      schema: record,
      indexes: { generation: ({ generation }) => generation },
    })
    this.#startedAt = startedAt
    this.#find = find
  }

  /** Keeps a generation of this process when it is first mentioned; costs nothing later. */
  keep(generation: number): Promise<void> | undefined {
    if (this.#kept.has(generation)) return undefined
    this.#kept.add(generation)
    const modules = this.#find(generation)
    if (!modules) return undefined
    const at = Date.now()
    const started_at = this.#startedAt
    return this.#records.put(idOf(started_at, generation), {
      started_at,
      generation,
      at,
      modules: [...modules],
    })
  }

  /** The arrangement that a call of this time ran on; undefined when it was not kept, or not for so long. */
  async of(generation: number, callAt: number): Promise<readonly Arranged[] | undefined> {
    const same = this.#records.scan({ index: 'generation', equals: generation, reverse: true })
    for await (const [, { started_at, modules }] of same) if (started_at <= callAt) return modules
    return undefined
  }

  /** Forgets the oldest. */
  async prune(): Promise<void> {
    const { items } = await this.#records.list({ reverse: true, offset: most, limit: most })
    for (const { started_at, generation } of items) await this.#records.delete(idOf(started_at, generation))
  }
}

/** Sorts by time: processes by their start, then generations. */
const idOf = (startedAt: number, generation: number): string =>
  `${String(startedAt).padStart(15, '0')}-${String(generation).padStart(9, '0')}`
