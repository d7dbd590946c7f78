import { z } from 'zod'
import {
  type Bodies,
  type Collection,
  type Context,
  type JobQueue,
  Jobs,
  type Ledger,
  newId,
  type Principal,
  Signing,
} from '#kernel'
import { Collecting } from './collect.ts'
import { type PackRow, type packInput, packRow } from './pack.ts'
import type { Sources } from './sections.ts'

const dayMs = 86_400_000
/** How long one may take to collect. */
const timeoutMs = 3_600_000
const pauseMs = 60_000

const task = z.object({ pack: z.string() })

/** Packs of evidence: each is collected once, in a job, and its file never changes again. */
export class Packs {
  readonly rows: Collection<PackRow>
  readonly files: Bodies
  readonly #context: Context<unknown>
  readonly #sources: Sources
  readonly #ledger: Ledger
  readonly #days: number
  readonly #queue: JobQueue<z.infer<typeof task>>

  /** `days`: how long a pack is kept. */
  constructor(context: Context<unknown>, sources: Sources, ledger: Ledger, days: number) {
    this.#context = context
    this.#sources = sources
    this.#ledger = ledger
    this.#days = days
    this.rows = context.store.collection('evidence', {
      schema: packRow,
      indexes: { created: ({ created_at }) => created_at, expires: ({ expires_at }) => expires_at },
    })
    this.files = context.store.bodies('evidence')
    this.#queue = context.use(Jobs).define(context, 'evidence', {
      input: task,
      timeoutMs,
      delaysMs: [pauseMs],
      run: ({ input }) => this.#collect(input.pack),
      gaveUp: ({ input }, { message }) => this.#fail(input.pack, message),
      cancelled: ({ input }) => this.#fail(input.pack, 'An admin cancelled it.'),
    })
  }

  /** Makes a pack that is collected from now on. */
  async add(input: z.infer<typeof packInput>, { userId, keyId }: Principal): Promise<PackRow> {
    const now = Date.now()
    const row: PackRow = {
      ...input,
      id: newId('ep_'),
      status: 'collecting',
      error: null,
      created_by: userId ?? keyId,
      created_at: new Date(now).toISOString(),
      expires_at: new Date(now + this.#days * dayMs).toISOString(),
      collected: null,
    }
    await this.#context.store.transaction((tx) => {
      tx.put(this.rows, row.id, row)
      this.#queue.addIn(tx, { pack: row.id }, { id: row.id })
    })
    return row
  }

  /** Deletes a pack with its file, and ends its collection; false when there is none. */
  async delete(id: string): Promise<boolean> {
    const isThere = await this.rows.delete(id)
    await this.#queue.delete(id)
    await this.files.delete(id)
    return isThere
  }

  /** Deletes packs whose time is over. */
  async prune(now = Date.now()): Promise<void> {
    const to = new Date(now).toISOString()
    for await (const [id] of this.rows.scan({ index: 'expires', to })) await this.delete(id)
  }

  async #collect(id: string): Promise<void> {
    const row = await this.rows.get(id)
    if (row?.status !== 'collecting') return
    const collecting = new Collecting(row, this.#sources, this.#context.use(Signing))
    const enter = await this.#ledger.prepare({
      event_type: 'evidence.collected',
      actor: { type: 'system', id: 'trust' },
      action: 'collect',
      resource: { type: 'evidence', id },
    })
    await this.files.write(id, collecting.bytes(), (tx, { size }) => {
      const found = tx.get(this.rows, id)
      if (found?.status !== 'collecting') return
      tx.put(this.rows, id, {
        ...found,
        status: 'ready',
        collected: { ...collecting.done, size_bytes: size },
      })
      enter(tx)
    })
    if ((await this.rows.get(id))?.status !== 'ready') await this.files.delete(id)
  }

  async #fail(id: string, error: string): Promise<void> {
    await this.rows.update(id, (row) =>
      row?.status === 'collecting' ? { ...row, status: 'failed', error: error.slice(0, 300) } : undefined,
    )
  }
}
