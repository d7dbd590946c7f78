import { z } from 'zod'
import { type Awaitable, type Collection, type Log, notFound, type Store } from '#kernel'
import type { Response } from './asked.ts'
import type { Item } from './schema.ts'

/** A response that is kept, with what it answers. */
export interface Kept {
  readonly response: Response
  /** The input's own items; those of earlier turns are not among them. */
  readonly input: readonly Item[]
}

export interface Limits {
  /** Days after which a response is deleted; with 0 none is kept. */
  readonly days: number
  /** How many each user may have; the oldest go. */
  readonly perUser: number
}

export interface StoredParts {
  readonly store: Store
  readonly log: Log
  readonly limits: Limits
  readonly seal: (owner: string, text: string) => Awaitable<string>
  /** Undefined for what was erased, or cannot be opened. */
  readonly open: (text: string) => Promise<string | undefined>
  /** Gives a function that runs another in every thread. */
  readonly inEachThread: (run: () => Promise<void>) => () => Promise<void>
}

/** A response that is being written. */
interface Writing {
  readonly owner: string
  readonly previous: string | undefined
  readonly kept: Kept
  readonly done: Promise<void>
}

/** What the store takes for an id at all. */
const isId = (id: string): boolean => id !== '' && id.length <= 200 && !id.includes('\0')

const row = z.object({
  owner: z.string(),
  /** Milliseconds since the epoch. */
  created: z.number(),
  /** The turn before; absent for the first. */
  previous: z.string().optional(),
  /** Response and input, sealed for the owner. */
  kept: z.string(),
})
type Row = z.infer<typeof row>

const dayMs = 86_400_000

/**
 * Responses of users, each its caller's own. They are encrypted: they hold what guards keep from providers and from
 * records. A response can be read in every thread as soon as it is put, and is on disk soon after.
 */
export class StoredResponses {
  readonly #parts: StoredParts
  readonly #rows: Collection<Row>
  /** Those of this thread. */
  readonly #writing = new Map<string, Writing>()
  readonly #writtenInAll: () => Promise<void>
  /** Users for whom something was written, in whatever thread, since they were looked at. */
  readonly #grown = new Set<string>()
  /** Whether all others have no more than they may. */
  #isTrimmed = false
  #unwatch: (() => void) | undefined

  constructor(parts: StoredParts) {
    this.#parts = parts
    this.#writtenInAll = parts.inEachThread(() => this.written())
    this.#rows = parts.store.collection('responses', {
      schema: row,
      indexes: { owned: ({ owner, created }) => [[owner, created]], created: ({ created }) => created },
    })
  }

  get enabled(): boolean {
    return this.#parts.limits.days > 0
  }

  /** Keeps a response. A failure is logged; the response is then not found later. */
  put(owner: string, kept: Kept): void {
    const { id, previous_response_id: previous } = kept.response
    const before = typeof previous === 'string' ? previous : undefined
    const done = this.#write(id, owner, before, kept)
      .catch((err) => this.#parts.log.error({ err, response: id }, 'a response could not be kept'))
      .finally(() => this.#writing.delete(id))
    this.#writing.set(id, { owner, previous: before, kept, done })
  }

  /** The caller's response; not found when there is none, or it is another's. */
  async get(owner: string, id: string, param = 'response_id'): Promise<Kept> {
    return (await this.#turn(owner, id, param)).kept
  }

  /** Deletes a response. No thread has it any more then, not as one that is being written either. */
  async delete(owner: string, id: string): Promise<void> {
    await this.#turn(owner, id, 'response_id')
    await this.#writtenInAll()
    await this.#rows.delete(id)
  }

  /** A response and the turns before it, oldest first. Not found when one of them is not there any more. */
  async conversation(owner: string, id: string, param: string): Promise<Kept[]> {
    const turns: Kept[] = []
    for (let at: string | undefined = id; at !== undefined; ) {
      const one: Pick<Writing, 'kept' | 'previous'> = await this.#turn(owner, at, param)
      turns.push(one.kept)
      at = one.previous
    }
    return turns.reverse()
  }

  /** How many responses an owner has. */
  async count(owner: string): Promise<number> {
    await this.#writtenInAll()
    return this.#rows.count({ index: 'owned', equals: owner })
  }

  /** Deletes all responses of an owner, and returns how many. */
  async forget(owner: string): Promise<number> {
    await this.#writtenInAll()
    let deleted = 0
    for await (const [id] of this.#rows.scan({ index: 'owned', equals: owner })) {
      if (await this.#rows.delete(id)) deleted += 1
    }
    return deleted
  }

  /**
   * Deletes what is too old, and what users have too many of. The first time it looks at all users, whose limit may have been
   * another one before; then at those who have stored more, unless it could not end.
   */
  async sweep(now = Date.now()): Promise<void> {
    this.#unwatch ??= this.#rows.watch(({ row }) => void (row && this.#grown.add(row.owner)))
    const tooOld = { index: 'created', to: now - this.#parts.limits.days * dayMs + 1 }
    for await (const [id] of this.#rows.scan(tooOld)) await this.#rows.delete(id)
    const owners = this.#isTrimmed ? [...this.#grown] : this.#owners()
    this.#isTrimmed = false
    this.#grown.clear()
    for await (const owner of owners) await this.#trim(owner)
    this.#isTrimmed = true
  }

  /** Ends the sweeps; resolves as `written` does. */
  async close(): Promise<void> {
    this.#unwatch?.()
    await this.written()
  }

  /** Resolves when what was put in this thread is on disk, or could not be put there. */
  async written(): Promise<void> {
    await Promise.all([...this.#writing.values()].map(({ done }) => done))
  }

  async #write(id: string, owner: string, previous: string | undefined, kept: Kept): Promise<void> {
    const created = Date.now()
    const sealed = await this.#parts.seal(owner, JSON.stringify(kept))
    await this.#rows.put(id, {
      owner,
      created,
      ...(previous !== undefined && { previous }),
      kept: sealed,
    })
  }

  /** Every owner, of whose rows only one is read. */
  async *#owners(): AsyncGenerator<string> {
    let owner = await this.#ownerFrom('')
    for (; owner !== undefined; owner = await this.#ownerFrom(`${owner}\0`)) yield owner
  }

  /** The first owner from there on; more than one row is read only where the first cannot be. */
  async #ownerFrom(from: string): Promise<string | undefined> {
    for (const limit of [1, Number.POSITIVE_INFINITY])
      for await (const [, { owner }] of this.#rows.scan({ index: 'owned', from, limit })) return owner
    return undefined
  }

  async #trim(equals: string): Promise<void> {
    const own = { index: 'owned', equals }
    const surplus = (await this.#rows.count(own)) - this.#parts.limits.perUser
    if (surplus <= 0) return
    for await (const [id] of this.#rows.scan({ ...own, limit: surplus })) await this.#rows.delete(id)
  }

  async #turn(owner: string, id: string, param: string): Promise<Pick<Writing, 'kept' | 'previous'>> {
    const writing = this.#writing.get(id)
    if (writing?.owner === owner) return writing
    const row = !writing && isId(id) ? await this.#row(id) : undefined
    const text = row?.owner === owner ? await this.#parts.open(row.kept) : undefined
    if (row && text !== undefined) return { kept: JSON.parse(text) as Kept, previous: row.previous }
    throw notFound(`There is no response ${id}: it was not stored, or it has been deleted.`, { param })
  }

  /** A row of the store, in which another thread may be about to put it: clients come back on any connection. */
  async #row(id: string): Promise<Row | undefined> {
    const row = await this.#rows.get(id)
    if (row) return row
    await this.#writtenInAll()
    return this.#rows.get(id)
  }
}
