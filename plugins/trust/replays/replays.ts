import { z } from 'zod'
import {
  type Collection,
  type Context,
  type JobQueue,
  Jobs,
  type Page,
  type PageOptions,
  Sealing,
} from '#kernel'
import { type BodySeals, bodySeals, eraseWithJobs } from '#kit'
import { tellingSourceUser } from '../source-user.ts'
import { replayed } from './make.ts'
import { type ReplayRow, replayRow } from './row.ts'
import { openedRow } from './sealed.ts'

/** As long as traces by default. */
const keptMs = 30 * 86_400_000
const timeoutMs = 10 * 60_000
/** Replays: each is a row and a job, which are there together, and it ends as `done` or `failed`, also over a restart. */
export class Replays {
  readonly #context: Context<unknown>
  readonly #rows: Collection<ReplayRow>
  readonly #queue: JobQueue<{ id: string }>
  readonly #seals: BodySeals

  constructor(context: Context<unknown>) {
    this.#context = context
    this.#seals = bodySeals(context, () => context.use(Sealing))
    this.#rows = context.store.collection('replays', {
      schema: replayRow,
      ...tellingSourceUser(context, 'original_trace_id'),
      indexes: {
        created: ({ created_at }) => created_at,
        caller: ({ principal }) => principal.userId,
        user: ({ principal, source_user_id }) => [...new Set([principal.userId, source_user_id])],
        status: ({ status }) => status,
      },
    })
    this.#queue = context.use(Jobs).define(context, 'replay', {
      input: z.strictObject({ id: z.string() }),
      concurrency: 4,
      timeoutMs,
      run: async ({ input: { id }, signal, step }) => {
        await this.#change(id, { status: 'running' })
        const changes = await step('call', () => this.#make(id, signal))
        await this.#change(id, changes)
      },
      gaveUp: ({ input: { id } }, { message, code = 'internal_error' }) =>
        this.#change(id, { status: 'failed', error: { code, message: message.slice(0, 500) } }),
      cancelled: ({ input: { id } }) => this.#endCancelled(id),
    })
  }

  /** Resolves when the replay is on disk; it is made soon after. */
  add(row: ReplayRow): Promise<string> {
    return this.#context.store.transaction((transaction) => {
      transaction.put(this.#rows, row.id, row)
      return this.#queue.addIn(transaction, { id: row.id }, { id: row.id })
    })
  }

  async get(id: string): Promise<ReplayRow | undefined> {
    const row = await this.#rows.get(id)
    return row && openedRow(row, this.#seals)
  }

  /** Newest first; of one user, or of all. */
  async list(user: string | undefined, page: PageOptions): Promise<Page<ReplayRow>> {
    const where = user === undefined ? { index: 'created' } : { index: 'caller', equals: user }
    const { items, ...rest } = await this.#rows.list({ ...where, ...page, reverse: true })
    return { ...rest, items: await Promise.all(items.map((row) => openedRow(row, this.#seals))) }
  }

  count(by: { readonly user: string } | { readonly status: ReplayRow['status'] }): Promise<number> {
    return 'user' in by
      ? this.#rows.count({ index: 'user', equals: by.user })
      : this.#rows.count({ index: 'status', equals: by.status })
  }

  /** Deletes one with its job; one that goes on is ended first, with the connection of its call. */
  async delete(id: string): Promise<void> {
    await this.#queue.delete(id)
    await this.#rows.delete(id)
  }

  /** Also those in which others repeated calls of that user. */
  eraseOf(user: string): Promise<number> {
    return eraseWithJobs(this.#rows, this.#queue, user)
  }

  /** Deletes replays after thirty days. */
  async prune(): Promise<void> {
    const to = new Date(Date.now() - keptMs).toISOString()
    for await (const [id] of this.#rows.scan({ index: 'created', to })) await this.#rows.delete(id)
  }

  async #make(id: string, signal: AbortSignal): Promise<Partial<ReplayRow>> {
    const row = await this.#rows.get(id)
    return row ? replayed(this.#context, row, signal, this.#seals) : {}
  }

  async #endCancelled(id: string): Promise<void> {
    const error = { code: 'cancelled', message: 'An admin cancelled the replay.' }
    const updated_at = new Date().toISOString()
    await this.#rows.update(id, (row) =>
      row?.status === 'queued' || row?.status === 'running'
        ? { ...row, status: 'failed', error, updated_at }
        : undefined,
    )
  }

  async #change(id: string, changes: Partial<ReplayRow>): Promise<void> {
    const updated_at = new Date().toISOString()
    await this.#rows.update(id, (row) => row && { ...row, ...changes, updated_at })
  }
}
