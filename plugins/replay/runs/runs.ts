import type { Collection, Context, Page, PageOptions } from '#kernel'
import { type KeptOfUser, rowsOfUsers } from '#kit'
import { type RunRow, runRow } from './row.ts'

const dayMs = 86_400_000

/** Whose runs, and of which model; all without both. */
export interface RunFilter {
  readonly user?: string | undefined
  readonly model?: string | undefined
  /** Those that are for all, in place of a user's. */
  readonly areShared?: boolean | undefined
}

/** Stands in the index for every user and for every model. No id and no model is empty. */
const any = ''
/** Stands in the index for the user of runs that are for all. No user has this id. */
const shared = 'shared'

/** The runs that are kept. */
export class Runs {
  readonly #rows: Collection<RunRow>
  readonly ofUsers: KeptOfUser

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#rows = store.collection('runs', {
      schema: runRow,
      indexes: {
        filter: ({ user_id, visibility, target: { model } }) => {
          const whose = [any, user_id, visibility === 'shared' ? shared : undefined]
          return whose.flatMap((one) => [
            [one, any],
            [one, model],
          ])
        },
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
  list({ user = any, model = any, areShared }: RunFilter, page: PageOptions): Promise<Page<RunRow>> {
    const whose = areShared ? shared : user
    return this.#rows.list({ index: 'filter', equals: [whose, model], ...page, reverse: true })
  }

  /** The runs of a user, or of all, newest first. */
  async *scan(user: string = any): AsyncIterable<RunRow> {
    const found = this.#rows.scan({ index: 'filter', equals: [user, any], reverse: true })
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
