import type { Collection, Context, Page, PageOptions } from '#kernel'
import { type KeptOfUser, rowsOfUsers } from '#kit'
import { type RunRow, runRow } from './row.ts'

const dayMs = 86_400_000

/** Whose runs, and of which model; all without both. */
export interface RunFilter {
  readonly user?: string | undefined
  readonly model?: string | undefined
}

/** Stands in the index for every user and for every model. No id and no model is empty. */
const any = ''

/** The runs that are kept. */
export class Runs {
  readonly #rows: Collection<RunRow>
  readonly ofUsers: KeptOfUser

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#rows = store.collection('runs', {
      schema: runRow,
      indexes: {
        filter: ({ user_id, target: { model } }) => [
          [any, any],
          [any, model],
          ...(user_id === undefined
            ? []
            : [
                [user_id, any],
                [user_id, model],
              ]),
        ],
        user: ({ user_id, source_user_id }) => [...new Set([user_id, source_user_id])],
        created: ({ created_at }) => created_at,
        running: ({ status, created_at }) => (status === 'running' ? created_at : undefined),
      },
    })
    this.ofUsers = rowsOfUsers(this.#rows)
  }

  add(row: RunRow): Promise<void> {
    return this.#rows.put(row.id, row)
  }

  get(id: string): Promise<RunRow | undefined> {
    return this.#rows.get(id)
  }

  delete(id: string): Promise<boolean> {
    return this.#rows.delete(id)
  }

  /** A run that was deleted meanwhile stays deleted. */
  async end(row: RunRow): Promise<void> {
    await this.#rows.update(row.id, (now) => now && row)
  }

  /** Newest first. */
  list({ user = any, model = any }: RunFilter, page: PageOptions): Promise<Page<RunRow>> {
    return this.#rows.list({ index: 'filter', equals: [user, model], ...page, reverse: true })
  }

  /** Newest first. */
  async *scan({ user = any, model = any }: RunFilter): AsyncIterable<RunRow> {
    const found = this.#rows.scan({ index: 'filter', equals: [user, model], reverse: true })
    for await (const [, row] of found) yield row
  }

  /** Says of runs that began before this process, and have not ended, that they never will. */
  async endInterrupted(startedAt: number): Promise<void> {
    const to = new Date(startedAt).toISOString()
    for await (const [id] of this.#rows.scan({ index: 'running', to }))
      await this.#rows.update(id, (row) =>
        row?.status === 'running' ? { ...row, status: 'error', error: interrupted, ended_at: to } : undefined,
      )
  }

  /** Deletes runs that are older than their traces get. */
  async prune(days: number): Promise<void> {
    const to = new Date(Date.now() - days * dayMs).toISOString()
    for await (const [id] of this.#rows.scan({ index: 'created', to })) await this.#rows.delete(id)
  }
}

const interrupted = { code: 'internal_error', message: 'The gateway ended while the run was under way.' }
