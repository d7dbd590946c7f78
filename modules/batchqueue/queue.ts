import { z } from 'zod'
import {
  type Call,
  type Collection,
  type Context,
  conflict,
  defineEvent,
  type JobQueue,
  Jobs,
  newId,
  type Page,
  type PageOptions,
} from '#kernel'
import {
  DeferredCalls,
  type DeferredResult,
  deferCall,
  deferredCall,
  deferredResult,
  eraseWithJobs,
  mayPass,
  personalOfUsers,
} from '#kit'
import { type BatchRow, batchRow } from './row.ts'
import type { Settings } from './settings.ts'
import { openingsOf } from './window.ts'

export const BatchCallEnded = defineEvent(
  'batch.call_ended',
  z.object({
    id: z.string(),
    status: z.enum(['done', 'failed']),
    model: z.string(),
    user_id: z.string().nullable(),
    trace_id: z.string().nullable(),
  }),
  { description: 'A call that was put off has its answer, or has finally failed.' },
)

const keptDays = 7
const hourMs = 3_600_000
const minuteMs = 60_000
/** The pauses after a failure that may pass. */
const delaysMs = [5000, minuteMs, 5 * minuteMs, 30 * minuteMs, 2 * hourMs]

/** Calls that were put off: a row and a job each, which are there together and survive the process. */
export class BatchQueue {
  readonly #context: Context<Settings>
  readonly #calls: DeferredCalls
  readonly #rows: Collection<BatchRow>
  readonly #jobs: JobQueue<{ id: string; call: z.infer<typeof deferredCall> }>

  constructor(context: Context<Settings>) {
    const { settings, store } = context
    const opening = openingsOf(settings.window)
    this.#context = context
    this.#calls = new DeferredCalls((request, options) => context.call(request, options))
    this.#rows = store.collection('calls', {
      schema: batchRow,
      indexes: {
        created: ({ created_at }) => created_at,
        user: ({ user_id }) => user_id ?? undefined,
        status: ({ status }) => status,
      },
    })
    this.#jobs = context.use(Jobs).define(context, 'call', {
      input: z.object({ id: z.string(), call: deferredCall }),
      concurrency: settings.concurrency,
      delaysMs,
      timeoutMs: settings.timeout_s * 1000,
      keep: { days: keptDays, most: 100_000 },
      state: deferredResult,
      run: async ({ input: { id, call }, signal, state, save, sleepUntil }) => {
        const now = Date.now()
        const open = opening(now)
        if (open > now) await sleepUntil(`window at ${open}`, open)
        await this.#change(id, { status: 'running' })
        const result = state ?? (await this.#calls.make(call, signal, mayPass))
        // Before it is told of: who hears of the end comes for the answer.
        await save(result)
        await this.#end(id, result)
      },
      gaveUp: ({ input: { id } }, { code = 'internal_error' }) =>
        this.#end(id, {
          trace_id: null,
          response: null,
          error: { code, message: 'The call failed whenever it was tried.' },
        }),
      cancelled: ({ input: { id } }) => this.#endCancelled(id),
    })
    context.event(BatchCallEnded)
    context.every(hourMs, () => this.#prune())
    context.personal(
      personalOfUsers({
        count: (user) => this.#rows.count({ index: 'user', equals: user }),
        erase: (user) => eraseWithJobs(this.#rows, this.#jobs, user),
      }),
    )
  }

  /** Resolves with the id when the call is on disk; undefined when the queue is full. */
  async add(call: Call): Promise<string | undefined> {
    if ((await this.#rows.count({ index: 'status', equals: 'queued' })) >= this.#context.settings.max_queue)
      return undefined
    const id = newId('bq_')
    const row: BatchRow = {
      id,
      status: 'queued',
      model: call.request.model,
      project: call.context.project,
      user_id: call.principal.userId ?? null,
      created_at: new Date().toISOString(),
    }
    await this.#context.store.transaction((transaction) => {
      transaction.put(this.#rows, id, row)
      this.#jobs.addIn(transaction, { id, call: deferCall(call) }, { id })
    })
    return id
  }

  get(id: string): Promise<BatchRow | undefined> {
    return this.#rows.get(id)
  }

  /** Newest first; of one user, or of all. */
  list(user: string | undefined, page: PageOptions): Promise<Page<BatchRow>> {
    const where = user === undefined ? { index: 'created' } : { index: 'user', equals: user }
    return this.#rows.list({ ...where, ...page, reverse: true })
  }

  async resultOf(id: string): Promise<DeferredResult | undefined> {
    const job = await this.#jobs.get(id)
    // Older versions kept it as what the job came to.
    return deferredResult.safeParse(job?.state ?? job?.result).data
  }

  /** Ends a call that has not ended; what the provider still says counts for nothing. Throws a conflict for one that has. */
  async cancel(id: string): Promise<void> {
    const row = await this.#rows.get(id)
    if (row?.ended_at !== undefined) throw conflict(`The call ${id} has ended.`, { param: 'id' })
    await this.#jobs.cancel(id)
    await this.#endCancelled(id)
  }

  #endCancelled(id: string): Promise<void> {
    return this.#change(id, { status: 'cancelled', ended_at: new Date().toISOString() })
  }

  async #end(id: string, { trace_id, error }: DeferredResult): Promise<void> {
    const status = error ? 'failed' : 'done'
    const ended_at = new Date().toISOString()
    await this.#context.store.transaction((transaction) => {
      const row = transaction.get(this.#rows, id)
      if (!row || row.ended_at !== undefined) return
      transaction.put(this.#rows, id, { ...row, status, ended_at, ...(error && { error }) })
      const { model, user_id } = row
      this.#context.emit(BatchCallEnded, { id, status, model, user_id, trace_id }, { in: transaction })
    })
  }

  async #change(id: string, changes: Partial<BatchRow>): Promise<void> {
    await this.#rows.update(id, (row) => (row && row.ended_at === undefined ? { ...row, ...changes } : row))
  }

  /** Forgets calls as long after their end as their jobs are kept. */
  async #prune(): Promise<void> {
    const to = new Date(Date.now() - keptDays * 24 * hourMs).toISOString()
    for await (const [id, { ended_at }] of this.#rows.scan({ index: 'created', to }))
      if (ended_at !== undefined && ended_at < to) await this.#rows.delete(id)
  }
}
