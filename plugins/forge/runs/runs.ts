import { hash } from 'node:crypto'
import { z } from 'zod'
import {
  type Context,
  conflict,
  type JobQueue,
  Jobs,
  newId,
  type Principal,
  rateLimited,
  Sealing,
} from '#kernel'
import { canonicalJson, endJob, eraseWithJobs, RowWaits, SealedJson, storePrincipal } from '#kit'
import type { Settings } from '../settings.ts'
import type { Tools } from '../tools/tools.ts'
import type { WorkflowRow } from '../workflows/rows.ts'
import type { Workflows } from '../workflows/workflows.ts'
import type { End, Means } from './attempt.ts'
import { perform } from './perform.ts'
import { isOver, isSettled, noSums, type RunRow } from './rows.ts'
import { RunStore } from './store.ts'
import { RunTexts } from './texts.ts'

const dayMs = 86_400_000

/** Above the time of a run, which ends it by itself. */
const spareMs = 60_000

/** Who asks for a run, and with what. */
export interface Asked {
  readonly principal: Principal
  readonly ip: string
  readonly project: string
  readonly input: unknown
  /** Two requests of one caller with one key are one run. */
  readonly key?: string | undefined
  /** The batch that it is an item of. */
  readonly batch?: string
}

/** Runs: each is a row and a job, which are there together, and it ends once, also over restarts. */
export class Runs {
  readonly store: RunStore
  readonly texts: RunTexts
  readonly waits: RowWaits<RunRow>
  readonly #context: Context<Settings>
  readonly #means: Means
  readonly #queue: JobQueue<{ id: string; user: string }>

  constructor(context: Context<Settings>, workflows: Workflows, toolbox: Tools) {
    const { settings } = context
    this.#context = context
    this.store = new RunStore(context)
    this.texts = new RunTexts(this.store, new SealedJson(context, () => context.use(Sealing)))
    this.waits = new RowWaits(this.store.runs, isSettled)
    context.own(() => this.waits.close())
    this.#means = { context, store: this.store, json: this.texts.json, workflows, toolbox }
    this.#queue = context.use(Jobs).define(context, 'run', {
      input: z.strictObject({ id: z.string(), user: z.string() }),
      concurrency: settings.concurrency,
      lane: ({ user }) => user,
      perLane: settings.per_user,
      timeoutMs: settings.timeout_s * 1000 + spareMs,
      run: (job) => perform(this.#means, job, (id, end, ranMs) => this.#finish(id, end, ranMs)),
      gaveUp: ({ input: { id } }) =>
        this.#finish(id, {
          status: 'failed',
          error: { code: 'internal_error', message: 'The run broke off.' },
        }),
      cancelled: ({ input: { id } }) => this.#finish(id, { status: 'cancelled' }),
    })
  }

  /** Stores a run, which begins soon; returns the one that there is for the same key. */
  async add(
    workflow: Pick<WorkflowRow, 'id' | 'slug' | 'current_version'>,
    steps: number,
    asked: Asked,
  ): Promise<RunRow> {
    const { principal, ip, project, input, key, batch } = asked
    const user = principal.userId ?? principal.keyId
    const { max_open: most } = this.#context.settings
    if ((await this.store.runs.count({ index: 'open_of', equals: user })) >= most)
      throw rateLimited(`${most} runs are open already. Wait for some of them, or cancel them.`, {
        retryAfterS: 30,
      })
    const { id: of, slug: workflow_slug, current_version: workflow_version } = workflow
    // A batch may go on with another key of its owner's, and its items are the same runs then.
    const askedBy = key === undefined ? undefined : hash('sha256', `${batch ?? user} ${key}`)
    const row: RunRow = {
      id: newId('run_'),
      workflow: of,
      workflow_slug,
      workflow_version,
      principal: storePrincipal(principal),
      ip,
      project,
      status: 'queued',
      turn: 0,
      steps_completed: 0,
      steps_total: steps,
      ...noSums,
      ran_ms: 0,
      bytes: 0,
      ...(askedBy !== undefined && { asked_by: askedBy }),
      ...(batch !== undefined && { batch }),
      created_at: new Date().toISOString(),
    }
    const text = await this.texts.write(row, input)
    const same =
      askedBy === undefined ? undefined : { key: askedBy, sha256: hash('sha256', canonicalJson([of, input])) }
    const id = await this.store.add(row, text, same, (transaction) =>
      this.#queue.addIn(transaction, { id: row.id, user }, { id: row.id }),
    )
    return (await this.store.runs.get(id)) ?? row
  }

  /** Ends a run that has not ended, and closes the connections of its calls. Throws a conflict for one that has. */
  async cancel(id: string): Promise<void> {
    if (!(await this.#finish(id, { status: 'cancelled' })))
      throw conflict('The run has ended.', { param: 'id' })
    await endJob(this.#queue, id)
  }

  /** Ends the runs of a batch that have not ended. */
  async cancelOf(batch: string): Promise<void> {
    for (const id of await this.store.openOf({ batch }))
      if (await this.#finish(id, { status: 'cancelled' })) await endJob(this.#queue, id)
  }

  /** Deletes a run with all that is kept of it; one that goes on is ended, and the connections of its calls are closed. */
  async delete(id: string): Promise<void> {
    await this.#queue.delete(id)
    await this.store.delete(id)
  }

  /** Wakes a run whose wait of this number is over. */
  async wake(id: string, turn: number): Promise<void> {
    await this.#queue.signal(id, `turn ${turn}`)
  }

  /** Deletes runs some days after their end. */
  async prune(): Promise<void> {
    const to = new Date(Date.now() - this.#context.settings.keep_days * dayMs).toISOString()
    for await (const [id] of this.store.runs.scan({ index: 'finished', to })) await this.delete(id)
  }

  countOf(user: string): Promise<number> {
    return this.store.runs.count({ index: 'user', equals: user })
  }

  eraseOf(user: string): Promise<number> {
    const { runs } = this.store
    const rows = { scan: runs.scan.bind(runs), delete: (id: string) => this.store.delete(id) }
    return eraseWithJobs(rows, this.#queue, user)
  }

  async #finish(id: string, { status, output, error }: End, ranMs?: number): Promise<boolean> {
    const row = await this.store.runs.get(id)
    if (!row || isOver(row)) return false
    const text = output === undefined ? undefined : await this.texts.write(row, output)
    return this.store.finish(
      id,
      (now) => ({ ...now, status, ran_ms: ranMs ?? now.ran_ms, ...(error && { error }) }),
      text,
    )
  }
}
