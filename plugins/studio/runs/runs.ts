import { z } from 'zod'
import {
  type Context,
  conflict,
  type Job,
  type JobQueue,
  Jobs,
  type Principal,
  rateLimited,
  Sealing,
  type Transaction,
} from '#kernel'
import { endJob, eraseWithJobs, nanoOf, RowWaits, type Schemas, SealedJson, storePrincipal } from '#kit'
import type { Settings } from '../settings.ts'
import { type End, makeRun, ownerOf, type RunMeans, type RunTools, unreadable } from './perform.ts'
import { callsOf, type Plan } from './plan.ts'
import { type AnswerRow, isOver, type RunKind, RunOver, type RunRow } from './rows.ts'
import { RunStore } from './store.ts'

const dayMs = 86_400_000

/** Above the time of a run, which ends it by itself. */
const spareMs = 60_000

/** Who asks for a run, and what it may cost. */
export interface Asked {
  readonly principal: Principal
  readonly ip: string
  readonly project: string
  readonly maxCostUsd: number
}

/** Runs of experiments and benchmarks: each is a row and a job, which are there together, and it ends once, also over restarts. */
export class Runs {
  readonly store: RunStore
  readonly waits: RowWaits<RunRow>
  readonly json: SealedJson
  readonly schemas: Schemas
  readonly #context: Context<Settings>
  readonly #tools: RunTools
  readonly #queue: JobQueue<{ id: string; user: string }>

  constructor(context: Context<Settings>, means: RunMeans) {
    const { concurrency, per_user, timeout_s } = context.settings
    this.#context = context
    this.store = new RunStore(context)
    this.schemas = means.schemas
    this.json = new SealedJson(context, () => context.use(Sealing))
    this.#tools = { ...means, context, store: this.store, json: this.json }
    this.waits = new RowWaits(this.store.runs, isOver)
    context.own(() => this.waits.close())
    this.#queue = context.use(Jobs).define(context, 'run', {
      input: z.strictObject({ id: z.string(), user: z.string() }),
      concurrency,
      lane: ({ user }) => user,
      perLane: per_user,
      timeoutMs: timeout_s * 1000 + spareMs,
      run: (job) => this.#perform(job),
      gaveUp: ({ input: { id } }) =>
        this.#finish(id, {
          status: 'failed',
          error: { code: 'internal_error', message: 'The run broke off.' },
        }),
      cancelled: ({ input: { id } }) => this.#finish(id, { status: 'cancelled' }),
    })
  }

  /** Prepares a run, and returns what adds it to a transaction, so that it is there with what it belongs to. */
  async prepare(id: string, of: { kind: RunKind; of: string }, plan: Plan, asked: Asked): Promise<Prepared> {
    const { principal, ip, project, maxCostUsd } = asked
    const user = principal.userId ?? principal.keyId
    const { max_open: most } = this.#context.settings
    if ((await this.store.runs.count({ index: 'open_of', equals: user })) >= most)
      throw rateLimited(`${most} runs are open already. Wait for some of them, or stop them.`, {
        retryAfterS: 30,
      })
    const row: RunRow = {
      id,
      ...of,
      principal: storePrincipal(principal),
      ip,
      project,
      status: 'queued',
      done: 0,
      total: callsOf(plan),
      errors: 0,
      cost_nano: 0,
      max_cost_nano: nanoOf(maxCostUsd),
      created_at: new Date().toISOString(),
    }
    const text = await this.json.write(ownerOf(row), plan)
    return {
      row,
      addIn: (transaction) => {
        this.store.addIn(transaction, row, text)
        this.#queue.addIn(transaction, { id, user }, { id })
      },
    }
  }

  /** Ends a run that has not ended, and closes the connections of its calls. Throws a conflict for one that has. */
  async cancel(id: string): Promise<void> {
    if (!(await this.#finish(id, { status: 'cancelled' })))
      throw conflict('The run has ended.', { param: 'id' })
    await endJob(this.#queue, id)
  }

  /** Deletes a run with its answers; one that goes on is ended, and the connections of its calls are closed. */
  async delete(id: string): Promise<void> {
    await this.#queue.delete(id)
    await this.store.delete(id)
  }

  /** What a run was asked; undefined where it cannot be read any more. */
  async planOf(run: string): Promise<Plan | undefined> {
    const stored = await this.store.planOf(run)
    return stored === undefined ? undefined : ((await this.json.read(stored))?.value as Plan | undefined)
  }

  /** The text of an answer; null where there is none, or it cannot be read any more. */
  async textOf(answer: AnswerRow): Promise<string | null> {
    const stored = await this.store.textOf(answer)
    return stored === undefined ? null : (((await this.json.read(stored))?.value as string) ?? null)
  }

  /** Deletes runs some days after their end; `gone` is told of each before. */
  async prune(gone: (run: RunRow) => Promise<unknown>): Promise<void> {
    const to = new Date(Date.now() - this.#context.settings.keep_days * dayMs).toISOString()
    for await (const [id, run] of this.store.runs.scan({ index: 'finished', to })) {
      await gone(run)
      await this.delete(id)
    }
  }

  countOf(user: string): Promise<number> {
    return this.store.runs.count({ index: 'user', equals: user })
  }

  eraseOf(user: string): Promise<number> {
    const { runs } = this.store
    const rows = { scan: runs.scan.bind(runs), delete: (id: string) => this.store.delete(id) }
    return eraseWithJobs(rows, this.#queue, user)
  }

  async #perform({ input: { id }, signal }: Job<{ id: string }>): Promise<void> {
    try {
      const run = await this.store.change(id, begun)
      const plan = await this.planOf(id)
      await this.#finish(id, plan ? await makeRun(this.#tools, run, plan, signal) : unreadable)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RunOver)) throw error
    }
  }

  #finish(id: string, end: End): Promise<boolean> {
    return this.store.finish(id, (row) => ({ ...row, ...end }))
  }
}

/** A run that is to be stored. */
export interface Prepared {
  readonly row: RunRow
  addIn(transaction: Transaction): void
}

const begun = (row: RunRow): RunRow => ({
  ...row,
  status: 'running',
  started_at: row.started_at ?? new Date().toISOString(),
})
