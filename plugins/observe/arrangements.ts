import { z } from 'zod'
import type { Arranged, Collection, Configured, Context, Store } from '#kernel'
import { detach } from '#kit'

const record = z.object({
  /** When the process began whose generation this is, in milliseconds since the epoch. */
  started_at: z.int(),
  generation: z.int(),
  /** When it was first mentioned. */
  at: z.int(),
  modules: z.array(z.custom<Arranged>()),
  /** Of what was set at runtime then; absent where that had changed before it was read. */
  config_hash: z.string().optional(),
})

type Record = z.infer<typeof record>

/** What is kept of a generation. */
export type Arrangement = Pick<Record, 'modules' | 'config_hash'>

/** Arrangements kept; those of older calls are forgotten. */
const most = 1000

interface Parts {
  readonly store: Store
  /** When this process began, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly find: (generation: number) => readonly Arranged[] | undefined
  /** What is set at runtime now; undefined where nothing tells. */
  readonly read: () => Promise<Pick<Configured, 'generation' | 'hash'> | undefined>
}

/** How the chain was arranged for each generation that had calls, and the hash of its configuration, so that these can be explained later. */
export class Arrangements {
  readonly #records: Collection<Record>
  readonly #parts: Omit<Parts, 'store'>
  readonly #kept = new Set<number>()

  constructor({ store, ...parts }: Parts) {
    this.#records = store.collection('arrangements', {
      schema: record,
      indexes: { generation: ({ generation }) => generation },
    })
    this.#parts = parts
  }

  /** Keeps a generation of this process. Its hash follows when it has been read. */
  async keep(generation: number): Promise<void> {
    if (this.#kept.has(generation)) return
    this.#kept.add(generation)
    const { startedAt: started_at, find, read } = this.#parts
    const modules = find(generation)
    if (!modules) return
    const id = idOf(started_at, generation)
    const first = { started_at, generation, at: Date.now(), modules: [...modules] }
    const kept = await this.#records.update(id, (there) => there ?? first)
    if (kept?.config_hash !== undefined) return
    const now = await read()
    if (now?.generation !== generation) return
    await this.#records.update(id, (there) => there && { ...there, config_hash: now.hash })
  }

  /** The arrangement that a call of this time ran on; undefined when it was not kept, or not for so long. */
  async of(generation: number, callAt: number): Promise<Arrangement | undefined> {
    const same = this.#records.scan({ index: 'generation', equals: generation, reverse: true })
    for await (const [, kept] of same) if (kept.started_at <= callAt) return kept
    return undefined
  }

  /** Forgets the oldest. */
  async prune(): Promise<void> {
    const { items } = await this.#records.list({ reverse: true, offset: most, limit: most })
    for (const { started_at, generation } of items) await this.#records.delete(idOf(started_at, generation))
  }
}

/**
 * A function that has the first thread keep the generation of a call: there a change is made first. It costs a look into a set
 * for each call after the first one.
 */
export function keeperOf(
  { inFirstThread }: Pick<Context<unknown>, 'inFirstThread'>,
  arrangements: Arrangements,
): (generation: number) => void {
  const keep = inFirstThread('arrangements', (generation: number) =>
    detach('the arrangement of a generation', arrangements.keep(generation)),
  )
  const told = new Set<number>()
  return (generation) => {
    if (told.has(generation)) return
    told.add(generation)
    keep(generation)
  }
}

/** Sorts by time: processes by their start, then generations. */
const idOf = (startedAt: number, generation: number): string =>
  `${String(startedAt).padStart(15, '0')}-${String(generation).padStart(9, '0')}`
