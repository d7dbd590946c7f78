import { z } from 'zod'
import { type Context, conflict, type Job, type JobQueue, Jobs, rateLimited, Sealing } from '#kernel'
import { endJob, RowWaits, SealedJson } from '#kit'
import { isOver as isRunOver } from '../runs/rows.ts'
import type { Runs } from '../runs/runs.ts'
import type { Settings } from '../settings.ts'
import { BatchEnded, BatchPaused, toldOf } from './events.ts'
import { type Asked, newItems, newRow, sameness, userOf } from './new-batch.ts'
import { brokeOff, type End, performed } from './perform.ts'
import { type BatchRow, isOver, jobOf } from './rows.ts'
import { BatchStore } from './store.ts'
import { BatchTexts } from './texts.ts'
import type { Means } from './work.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000

/** Longer than any batch, whose own time ends it. */
const longestMs = 20 * dayMs

/** Batches of a user that have not ended. */
const mostOpen = 100

/** Batches: each is a row with its items, and a job for each time that it was begun. It ends once, also over restarts. */
export class Batches {
  readonly store: BatchStore
  readonly texts: BatchTexts
  readonly waits: RowWaits<BatchRow>
  readonly #context: Context<Settings>
  readonly #runs: Runs
  readonly #means: Means
  readonly #queue: JobQueue<{ id: string; user: string; turn: number }>

  constructor(context: Context<Settings>, runs: Runs) {
    const { batches, batches_of_user, batch_concurrency: mostAtOnce } = context.settings
    this.#context = context
    this.#runs = runs
    this.store = new BatchStore(context)
    this.texts = new BatchTexts(this.store, new SealedJson(context, () => context.use(Sealing)))
    this.waits = new RowWaits(this.store.batches, (row) => isOver(row) || row.status === 'paused')
    const ends = new RowWaits(runs.store.runs, isRunOver)
    context.own(() => this.waits.close())
    context.own(() => ends.close())
    context.event(BatchEnded)
    context.event(BatchPaused)
    const { call } = context
    this.#means = { call, runs, ends, store: this.store, texts: this.texts, mostAtOnce }
    this.#queue = context.use(Jobs).define(context, 'batch', {
      input: z.strictObject({ id: z.string(), user: z.string(), turn: z.int() }),
      concurrency: batches,
      lane: ({ user }) => user,
      perLane: batches_of_user,
      timeoutMs: longestMs,
      run: (job) => this.#perform(job),
      gaveUp: ({ input: { id, turn } }) => this.#end(id, turn, brokeOff),
      cancelled: ({ input: { id, turn } }) => this.#endCancelled(id, turn),
    })
  }

  /** Stores a batch, which begins soon; returns the one that there is for the same key. */
  async add(asked: Asked): Promise<BatchRow> {
    const user = userOf(asked.principal)
    if ((await this.store.batches.count({ index: 'open_of', equals: user })) >= mostOpen)
      throw rateLimited(`${mostOpen} batches are open already. Wait for some of them, or cancel them.`, {
        retryAfterS: 60,
      })
    const row = newRow(asked)
    const { id, turn } = row
    await this.store.draft(id)
    let added: string | undefined
    try {
      await this.store.items.add(newItems(row, asked.items, this.texts))
      added = await this.store.add(row, sameness(row, asked), (tx) =>
        this.#queue.addIn(tx, { id, user, turn }, { id: jobOf(id, turn) }),
      )
    } finally {
      if (added !== id) await this.store.discard(id)
    }
    return (await this.store.batches.get(added)) ?? row
  }

  /** Has a paused batch go on, or one that has ended with what has failed in it or was not made; undefined for another one. */
  async resume(id: string, change: (row: BatchRow) => BatchRow | undefined): Promise<BatchRow | undefined> {
    return this.store.change(
      id,
      (now) => {
        const next = change(now)
        if (!next) return undefined
        const { error: _, finished_at: __, ...row } = next
        return { ...row, status: 'queued', turn: now.turn + 1 }
      },
      (tx, { principal, turn }) => {
        this.#queue.addIn(tx, { id, user: userOf(principal), turn }, { id: jobOf(id, turn) })
      },
    )
  }

  /** Pauses a batch, and closes the connections of its calls; these are made again later. Throws a conflict for one that does not go on. */
  async pause({ id, turn }: BatchRow): Promise<void> {
    const paused = await this.store.change(id, (row) =>
      row.status === 'queued' || row.status === 'running' ? { ...row, status: 'paused' } : undefined,
    )
    if (!paused) throw conflict('The batch does not go on.', { param: 'id' })
    await endJob(this.#queue, jobOf(id, turn))
  }

  /** Ends a batch that has not ended, and closes the connections of its calls. Throws a conflict for one that has. */
  async cancel({ id, turn }: Pick<BatchRow, 'id' | 'turn'>): Promise<void> {
    if (!(await this.#end(id, undefined, { status: 'cancelled' })))
      throw conflict('The batch has ended.', { param: 'id' })
    await endJob(this.#queue, jobOf(id, turn))
    await this.#runs.cancelOf(id)
  }

  /** Deletes a batch with its items; one that goes on is ended. Its runs and its traces stay. */
  async delete({ id, turn }: Pick<BatchRow, 'id' | 'turn'>): Promise<boolean> {
    for (let n = 1; n <= turn; n += 1) await this.#queue.delete(jobOf(id, n))
    const isDeleted = await this.store.delete(id)
    await this.#runs.cancelOf(id)
    return isDeleted
  }

  /** Deletes batches some days after their end, and what has come to none; ends those that pause when their time is over. */
  async prune(): Promise<void> {
    const now = Date.now()
    const before = (ms: number): string => new Date(now - ms).toISOString()
    const to = before(this.#context.settings.keep_days * dayMs)
    for await (const [, row] of this.store.batches.scan({ index: 'finished', to })) await this.delete(row)
    for await (const [id, { turn }] of this.store.batches.scan({ index: 'expires', to: before(0) }))
      await this.#end(id, turn, { status: 'expired' })
    await this.store.pruneDrafts(before(hourMs))
  }

  countOf(user: string): Promise<number> {
    return this.store.batches.count({ index: 'user', equals: user })
  }

  async eraseOf(user: string): Promise<number> {
    let erased = 0
    for await (const [, row] of this.store.batches.scan({ index: 'user', equals: user }))
      if (await this.delete(row)) erased += 1
    return erased
  }

  async #perform({ input: { id, turn }, signal }: Job<{ id: string; turn: number }>): Promise<void> {
    const begun = await this.store.change(id, (row) =>
      row.turn === turn && (row.status === 'queued' || row.status === 'running')
        ? { ...row, status: 'running', started_at: row.started_at ?? new Date().toISOString() }
        : undefined,
    )
    if (begun) await this.#end(id, turn, await performed(this.#means, begun, signal))
  }

  /** Ends a batch whose job was cancelled, unless it goes on in another turn, and its runs. */
  async #endCancelled(id: string, turn: number): Promise<void> {
    await this.#end(id, turn, { status: 'cancelled' })
    const row = await this.store.batches.get(id)
    if (row?.turn === turn) await this.#runs.cancelOf(id)
  }

  /** Ends or pauses a batch that goes on, in this turn or in any; false for another one. */
  async #end(id: string, turn: number | undefined, end: End): Promise<boolean> {
    const isPaused = end.status === 'paused'
    const ended = await this.store.change(
      id,
      (row) =>
        isOver(row) || (turn !== undefined && row.turn !== turn)
          ? undefined
          : { ...row, ...end, ...(!isPaused && { finished_at: new Date().toISOString() }) },
      (tx, row) => this.#context.emit(isPaused ? BatchPaused : BatchEnded, toldOf(row), { in: tx }),
    )
    if (ended?.status === 'expired' || ended?.status === 'failed') await this.#runs.cancelOf(id)
    return ended !== undefined
  }
}
