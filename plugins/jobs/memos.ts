import { type Collection, conflict, type Store } from '#kernel'
import { suspend } from './changes.ts'
import type { Contents } from './contents.ts'
import { LeaseLost, unknownJob } from './errors.ts'
import { type JobRow, type MemoRow, memosIn } from './row.ts'

/**
 * The memos that are kept of a job beside its row: the result of a step, a time that the job waits for, the data of a signal,
 * and the time until when it waits for that.
 */
export type Memo = 'step' | 'time' | 'signal' | 'deadline'

/** A space comes before all that an id may hold, so what is kept of a job is a range of its own. */
const memoId = (job: string, memo: Memo, name: string): string => `${job} ${memo} ${name}`

interface MemoParts {
  readonly store: Store
  readonly jobs: Collection<JobRow>
  readonly now: () => number
  readonly contents: Contents
}

/** The memory of jobs from one run to the next. A memo under a name stays as it is. */
export class Memos {
  readonly #store: Store
  readonly #jobs: Collection<JobRow>
  readonly #memos: Collection<MemoRow>
  readonly #now: () => number
  readonly #contents: Contents

  constructor({ store, jobs, now, contents }: MemoParts) {
    this.#store = store
    this.#contents = contents
    this.#jobs = jobs
    this.#memos = memosIn(store)
    this.#now = now
  }

  /** Throws `SECRET_UNREADABLE` if the encryption key is another one. */
  async get({ id }: JobRow, memo: Memo, name: string): Promise<MemoRow | undefined> {
    const found = await this.#memos.get(memoId(id, memo, name))
    return found && { value: this.#contents.open(found.value) }
  }

  /** Keeps a value for the holder of the job's lease. Throws `LeaseLost`. */
  async keep({ id, lease }: JobRow, memo: Memo, name: string, value: unknown): Promise<void> {
    const at = memoId(id, memo, name)
    const kept = { value: this.#contents.seal(value) }
    const isHeld = await this.#store.transaction((transaction) => {
      const row = transaction.get(this.#jobs, id)
      if (!row || row.lease !== lease) return false
      if (!transaction.get(this.#memos, at)) transaction.put(this.#memos, at, kept)
      // It gets on, so its process does not die of it each time.
      const { deaths, ...rest } = row
      if (deaths !== undefined) transaction.put(this.#jobs, id, rest)
      return true
    })
    if (!isHeld) throw new LeaseLost()
  }

  /** Lets a job wait, for the holder of its lease; it is due at once if its signal has come meanwhile. Throws `LeaseLost`. */
  async suspend({ id, lease }: JobRow, until: Pick<JobRow, 'dueAt' | 'waitsFor'>): Promise<void> {
    const { waitsFor } = until
    const isHeld = await this.#store.transaction((transaction) => {
      const row = transaction.get(this.#jobs, id)
      if (!row || row.lease !== lease) return false
      const hasCome =
        waitsFor !== undefined && transaction.get(this.#memos, memoId(id, 'signal', waitsFor)) !== undefined
      transaction.put(this.#jobs, id, suspend(row, hasCome ? { dueAt: this.#now() } : until))
      return true
    })
    if (!isHeld) throw new LeaseLost()
  }

  /** Keeps a signal and makes the job due that waits for it. Throws a not found, and a conflict when the job has ended. */
  async signal(id: string, name: string, value: unknown): Promise<void> {
    const kept = { value: this.#contents.seal(value) }
    await this.#store.transaction((transaction) => {
      const row = transaction.get(this.#jobs, id)
      if (!row) throw unknownJob(id)
      if (row.endedAt !== undefined) throw conflict(`The job is ${row.status} and is not waiting.`)
      const at = memoId(id, 'signal', name)
      if (transaction.get(this.#memos, at)) return
      transaction.put(this.#memos, at, kept)
      if (row.status === 'waiting' && row.waitsFor === name)
        transaction.put(this.#jobs, id, { ...row, dueAt: this.#now() })
    })
  }

  /** Forgets an ended job with what is kept of it, together: one that is tried again meanwhile keeps all. */
  async forget(id: string): Promise<boolean> {
    const memos: string[] = []
    for await (const [memo] of this.#memos.scan({ from: `${id} `, to: `${id}!` })) memos.push(memo)
    return this.#store.transaction((transaction) => {
      if (transaction.get(this.#jobs, id)?.endedAt === undefined) return false
      for (const memo of memos) transaction.delete(this.#memos, memo)
      transaction.delete(this.#jobs, id)
      return true
    })
  }
}
