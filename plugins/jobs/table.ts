import type { Collection, Page, PageOptions, Store, Transaction } from '#kernel'
import { cancel, claim, orphan } from './changes.ts'
import type { Contents } from './contents.ts'
import { LeaseLost, unknownJob } from './errors.ts'
import { Memos } from './memos.ts'
import { type Cancellation, cancellationsIn, type JobRow, jobsIn, pausesIn } from './row.ts'

export interface JobFilter {
  readonly kind?: string | undefined
  readonly status?: JobRow['status'] | undefined
}

/** Jobs and what is paused, as they lie on disk. Each change is one transaction. */
export class JobTable {
  readonly jobs: Collection<JobRow>
  readonly pauses: ReturnType<typeof pausesIn>
  readonly cancellations: Collection<Cancellation>
  readonly memos: Memos
  readonly contents: Contents
  readonly #store: Store
  readonly #now: () => number

  constructor(store: Store, now: () => number, contents: Contents) {
    this.#store = store
    this.#now = now
    this.contents = contents
    this.jobs = jobsIn(store)
    this.pauses = pausesIn(store)
    this.cancellations = cancellationsIn(store)
    this.memos = new Memos({ store, jobs: this.jobs, now, contents })
  }

  /** Adds a job unless there is one of its id. */
  addIn(transaction: Transaction, row: JobRow): void {
    transaction.update(this.jobs, row.id, (found) => (found ? undefined : row))
  }

  async add(row: JobRow): Promise<void> {
    await this.#store.transaction((transaction) => this.addIn(transaction, row))
  }

  list({ kind, status }: JobFilter, page: PageOptions): Promise<Page<JobRow>> {
    const order = { ...page, reverse: true }
    if (kind !== undefined && status !== undefined)
      return this.jobs.list({ ...order, index: 'kind_status', equals: [kind, status] })
    if (kind !== undefined) return this.jobs.list({ ...order, index: 'kind', equals: [kind] })
    if (status !== undefined) return this.jobs.list({ ...order, index: 'status', equals: [status] })
    return this.jobs.list({ ...order, index: 'added' })
  }

  /** The first waiting jobs of a lane by their time, due or not. */
  async first(kind: string, lane: string, most: number): Promise<JobRow[]> {
    const rows: JobRow[] = []
    for await (const [, row] of this.jobs.scan({ index: 'due', equals: [kind, lane], limit: most }))
      rows.push(row)
    return rows
  }

  /** The first waiting job of each lane of a kind; reads one row of each. */
  async *heads(kind: string): AsyncIterable<JobRow> {
    let from: string | undefined
    for (;;) {
      const head = await this.#firstFrom(kind, from)
      if (!head) return
      yield head
      from = `${head.lane}\u0000`
    }
  }

  /** The ids of a lane's waiting jobs that are due, the oldest first. */
  async *overdue(kind: string, lane: string, now: number): AsyncIterable<string> {
    for await (const [id] of this.jobs.scan(overdue(kind, lane, now))) yield id
  }

  countOverdue(kind: string, lane: string, now: number): Promise<number> {
    return this.jobs.count(overdue(kind, lane, now))
  }

  /** Gives jobs that still wait since before `now` other times, in one transaction. */
  async postpone(times: ReadonlyMap<string, number>, now: number): Promise<void> {
    await this.#store.transaction((transaction) => {
      for (const [id, dueAt] of times)
        transaction.update(this.jobs, id, (row) =>
          row?.status === 'waiting' && row.dueAt !== undefined && row.dueAt <= now
            ? { ...row, dueAt }
            : undefined,
        )
    })
  }

  async #firstFrom(kind: string, lane: string | undefined): Promise<JobRow | undefined> {
    const range = { index: 'due', equals: [kind], limit: 1, ...(lane !== undefined && { from: lane }) }
    for await (const [, row] of this.jobs.scan(range)) return row
    return undefined
  }

  /** Assigns those of these jobs that are due to the runner; returns them with their leases. */
  claim(ids: readonly string[], lease: () => string): Promise<JobRow[]> {
    return this.#store.transaction((transaction) =>
      ids.flatMap((id) => {
        const now = this.#now()
        const row = transaction.get(this.jobs, id)
        if (row?.status !== 'waiting' || row.dueAt === undefined || row.dueAt > now) return []
        const next = claim(row, lease(), now)
        transaction.put(this.jobs, id, next)
        return [next]
      }),
    )
  }

  /** Makes jobs due again that ran in a process that is gone; `isHeld` knows those that still run. */
  async recover(isHeld: (row: JobRow) => boolean): Promise<number> {
    let recovered = 0
    for await (const [id, row] of this.jobs.scan({ index: 'leased' })) {
      if (isHeld(row)) continue
      await this.jobs.update(id, (found) =>
        found?.lease === row.lease ? orphan(found!, this.#now()) : undefined,
      )
      recovered += 1
    }
    return recovered
  }

  /** Throws a not found. */
  async get(id: string): Promise<JobRow> {
    const row = await this.jobs.get(id)
    if (!row) throw unknownJob(id)
    return row
  }

  /** Kinds of which there are jobs. */
  async *kinds(): AsyncIterable<string> {
    let from: string | undefined
    for (;;) {
      let kind: string | undefined
      const range = { index: 'kind', limit: 1, ...(from !== undefined && { from }) }
      for await (const [, row] of this.jobs.scan(range)) kind = row.kind
      if (kind === undefined) return
      yield kind
      from = `${kind}\u0000`
    }
  }

  count(kind: string, status: JobRow['status']): Promise<number> {
    return this.jobs.count({ index: 'kind_status', equals: [kind, status] })
  }

  /** Changes a job; throws a not found, and what `change` throws. */
  change(id: string, change: (row: JobRow, now: number) => JobRow): Promise<JobRow> {
    return this.#store.transaction((transaction) => {
      const row = transaction.get(this.jobs, id)
      if (!row) throw unknownJob(id)
      const next = change(row, this.#now())
      transaction.put(this.jobs, id, next)
      return next
    })
  }

  /** The same for the holder of its lease. Throws `LeaseLost`. */
  async changeHeld({ id, lease }: JobRow, change: (row: JobRow, now: number) => JobRow): Promise<JobRow> {
    const changed = await this.jobs.update(id, (row) =>
      row && row.lease === lease ? change(row, this.#now()) : undefined,
    )
    if (!changed) throw new LeaseLost()
    return changed
  }

  /** Cancels a job, which its plugin is told later. Throws a not found, and a conflict when it has ended. */
  cancel(id: string): Promise<JobRow> {
    return this.#store.transaction((transaction) => {
      const row = transaction.get(this.jobs, id)
      if (!row) throw unknownJob(id)
      const at = this.#now()
      const next = cancel(row, at)
      if (next === row) return row
      transaction.put(this.jobs, id, next)
      transaction.put(this.cancellations, id, { kind: row.kind, at })
      return next
    })
  }

  /** The same for one that waits for a plugin that is gone, and with a reason; false when it waits no more. */
  async cancelOrphan(id: string, reason: string): Promise<boolean> {
    const error = this.contents.sealError({ message: reason, code: 'plugin_removed' })
    return this.#store.transaction((transaction) => {
      const row = transaction.get(this.jobs, id)
      if (row?.status !== 'waiting') return false
      const at = this.#now()
      transaction.put(this.jobs, id, { ...cancel(row, at), error })
      transaction.put(this.cancellations, id, { kind: row.kind, at })
      return true
    })
  }

  /** Forgets an ended job, also that its plugin was to be told of its cancellation. */
  async forget(id: string): Promise<void> {
    if (await this.memos.forget(id)) await this.cancellations.delete(id)
  }

  /** Whether the plugin does not know of this cancellation. */
  async isUntold(id: string, { at }: Cancellation): Promise<boolean> {
    return (await this.cancellations.get(id))?.at === at
  }

  /** Nothing of this cancellation is left to be told. */
  async settle(id: string, { at }: Cancellation): Promise<void> {
    await this.#store.transaction((transaction) => {
      if (transaction.get(this.cancellations, id)?.at === at) transaction.delete(this.cancellations, id)
    })
  }

  async pause(kind: string): Promise<void> {
    await this.pauses.create(kind, { pausedAt: this.#now() })
  }

  async resume(kind: string): Promise<void> {
    await this.pauses.delete(kind)
  }

  /** Jobs of a kind that wait, for a time or for a signal. */
  waiting(kind: string): AsyncIterable<[string, JobRow]> {
    return this.jobs.scan({ index: 'kind_status', equals: [kind, 'waiting'] })
  }

  /** Jobs of a kind that ended before, the oldest first. */
  ended(kind: string): AsyncIterable<[string, JobRow]> {
    return this.jobs.scan({ index: 'ended', equals: [kind] })
  }

  countEnded(kind: string): Promise<number> {
    return this.jobs.count({ index: 'ended', equals: [kind] })
  }
}

const overdue = (kind: string, lane: string, now: number) =>
  ({ index: 'due', equals: [kind, lane], to: now + 1 }) as const
