import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import {
  type Collection,
  type Context,
  isGatewayError,
  type Job,
  type JobQueue,
  Jobs,
  kernelServices,
  Ledger,
  newId,
  Signing,
  type Subject,
} from '#kernel'
import { type ErasureRow, erasureRow, type Facts } from './row.ts'

/** Rounds in which it erases what has come in between. */
const rounds = 3
const delaysMs = [5_000, 60_000, 600_000]
/** A large store takes long to compact. */
const timeoutMs = 6 * 3_600_000
const keptDays = 7

const task = z.strictObject({ erasure: z.string() })
type Task = z.infer<typeof task>

/** Erasures of users' data, each a job that goes on after a kill, and their reports. */
export class Erasures {
  readonly rows: Collection<ErasureRow>
  readonly #use: Context<unknown>['use']
  readonly #queue: JobQueue<Task>
  readonly #store: Context<unknown>['store']
  /** One begins after the other: so each sees those before. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(context: Context<unknown>) {
    this.#use = context.use
    this.#store = context.store
    this.rows = context.store.collection('erasures', {
      schema: erasureRow,
      indexes: {
        requested: ({ requested_at }) => requested_at,
        status: ({ status, requested_at }) => [[status, requested_at]],
        running: ({ status, user_id }) => (status === 'running' ? user_id : undefined),
      },
    })
    this.#queue = context.use(Jobs).define(context, 'erasure', {
      input: task,
      delaysMs,
      timeoutMs,
      keep: { days: keptDays },
      run: (job) => this.#run(job),
      gaveUp: ({ input }) => this.#fail(input.erasure),
      cancelled: ({ input }) => this.#fail(input.erasure),
    })
  }

  /** What is kept of a user, by plugin, and what nobody can be asked about. */
  async count(userId: string) {
    const personal = this.#use(kernelServices.personal)
    return { found: await personal.count(user(userId)), unclaimed: [...(await personal.unclaimed())] }
  }

  /** Begins to erase a user's data, also of a deleted user; on disk when it resolves. One that runs for this user goes on. */
  begin(userId: string, requested_by: string): Promise<ErasureRow> {
    const begun = this.#turn.then(() => this.#begin(userId, requested_by))
    this.#turn = begun.catch(() => {})
    return begun
  }

  async #begin(userId: string, requested_by: string): Promise<ErasureRow> {
    const { items } = await this.rows.list({ index: 'running', equals: userId, limit: 1 })
    if (items[0] && (await this.#isUnderWay(items[0].id))) return items[0]
    const id = newId('era_')
    const requested_at = new Date().toISOString()
    const row: ErasureRow = {
      id,
      status: 'running',
      requested_at,
      requested_by,
      user_id: userId,
      failed: [],
    }
    await this.#store.transaction((tx) => {
      tx.put(this.rows, id, row)
      this.#queue.addIn(tx, { erasure: id }, { id })
    })
    return row
  }

  /** Whether a running erasure has its job; an admin may have cancelled that. */
  async #isUnderWay(id: string): Promise<boolean> {
    const job = await this.#queue.get(id)
    if (job?.status === 'waiting' || job?.status === 'running') return true
    await this.#fail(id)
    return false
  }

  async #run({ input: { erasure: id }, step }: Job<Task>): Promise<unknown> {
    const row = await this.rows.get(id)
    if (row?.user_id === undefined) return undefined
    const subject = user(row.user_id)
    const personal = this.#use(kernelServices.personal)
    try {
      const found = await step('count', () => personal.count(subject))
      let left = found
      for (let round = 0; round < rounds && (round === 0 || !isEmpty(left)); round += 1) {
        await personal.erase(subject, 'request')
        left = await personal.count(subject)
      }
      // Until then the bytes of deleted rows are in the files.
      await this.#use(kernelServices.storage).compact()
      const unclaimed = [...(await personal.unclaimed())]
      await this.#finish(row, { found: { ...found }, left: { ...left }, unclaimed })
    } catch (error) {
      await this.#change(id, { failed: failedIn(error) })
      throw error
    }
    return undefined
  }

  /** Signs the report, enters it in the ledger, and forgets whose data it was. */
  async #finish(
    { id, requested_at, requested_by, user_id = '' }: ErasureRow,
    sums: Pick<Facts, 'found' | 'left' | 'unclaimed'>,
  ): Promise<void> {
    const salt = randomBytes(16).toString('hex')
    const sha256 = createHash('sha256').update(`${salt}:${user_id}`).digest('hex')
    const finished_at = new Date().toISOString()
    const subject = { kind: 'user' as const, salt, sha256 }
    const report: Facts = { id, requested_at, finished_at, subject, ...sums }
    const document = JSON.stringify(report)
    const signature = await this.#use(Signing).sign(Buffer.from(document))
    const signed = { document, ...signature }
    const entry = await this.#use(Ledger).prepare({
      event_type: 'erasure.done',
      actor: { type: 'admin', id: requested_by },
      action: 'erase',
      resource: { type: 'erasure', id },
      detail: signed,
    })
    await this.#store.transaction((tx) => {
      const ledger_seq = entry(tx).seq
      const done = { id, status: 'completed' as const, requested_at, requested_by, finished_at, failed: [] }
      tx.put(this.rows, id, { ...done, report, signed, ledger_seq })
    })
  }

  /** Ends an erasure that has not finished. */
  async #fail(id: string): Promise<void> {
    await this.rows.update(id, (row) =>
      row?.status === 'running' ? { ...row, status: 'failed' } : undefined,
    )
  }

  async #change(id: string, change: Partial<ErasureRow>): Promise<void> {
    await this.rows.update(id, (row) => row && { ...row, ...change })
  }
}

const user = (id: string): Subject => ({ kind: 'user', id })

const isEmpty = (sums: object): boolean => Object.keys(sums).length === 0

/** The plugins that an error of the erasure names. */
function failedIn(error: unknown): string[] {
  const details = isGatewayError(error) ? (error.details as { failed?: unknown } | undefined) : undefined
  return Array.isArray(details?.failed) ? details.failed.map(String) : []
}
