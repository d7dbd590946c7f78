import { z } from 'zod'
import {
  type Call,
  type Collection,
  type JobQueue,
  Jobs,
  type ModelRequest,
  type OnceContext,
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
  personalOfUsers,
} from '#kit'
import { ApprovalDecided, ApprovalRequested, byTime, type Held, held, type Verdict, verdict } from './held.ts'

export const deferredStatuses = ['pending', 'approved', 'denied', 'done', 'failed'] as const

/** A deferred call as it is stored, without what it says. */
const deferredRow = held.extend({
  status: z.enum(deferredStatuses),
  verdict: verdict.optional(),
  /** Where the call never came to an end of its own. */
  error: deferredResult.shape.error.unwrap().optional(),
})
export type DeferredRow = z.infer<typeof deferredRow>

/** The input of its job, which is sealed on disk. Its result is what came of the call. */
const deferredInput = z.object({
  id: z.string(),
  expires_ms: z.number(),
  on_timeout: z.enum(['allow', 'deny']),
  call: deferredCall,
})
type DeferredInput = z.infer<typeof deferredInput>

const keptDays = 7
const timeoutMs = 10 * 60_000
const hourMs = 3_600_000

/** Calls that wait without their clients: a row and a job each, which are there together and survive the process. */
export class Deferred {
  readonly #context: OnceContext
  readonly #rows: Collection<DeferredRow>
  readonly #queue: JobQueue<DeferredInput>
  readonly #calls: DeferredCalls

  constructor(context: OnceContext) {
    this.#context = context
    this.#calls = new DeferredCalls((request, options) => context.call(request, options))
    this.#rows = context.store.collection('deferred', {
      schema: deferredRow,
      indexes: {
        created: ({ created_at }) => created_at,
        user: ({ user_id }) => user_id ?? undefined,
        status: ({ status }) => status,
      },
    })
    this.#queue = context.use(Jobs).define(context, 'deferred', {
      input: deferredInput,
      concurrency: 8,
      timeoutMs,
      keep: { days: keptDays },
      run: async ({ input, signal, step, waitFor }) => {
        const told = await waitFor('verdict', { until: input.expires_ms })
        const late = { approved: input.on_timeout === 'allow', by: byTime }
        const decided = await this.#decided(input.id, told === undefined ? late : verdict.parse(told))
        if (!decided?.approved) return undefined
        const result = await step('call', () => this.#calls.make(input.call, signal))
        await this.#change(input.id, { status: result.error ? 'failed' : 'done' })
        return result
      },
      gaveUp: ({ input: { id } }, { code = 'internal_error' }) =>
        this.#change(id, { status: 'failed', error: { code, message: 'The call could not be made.' } }),
      cancelled: ({ input: { id } }) => this.#endCancelled(id),
    })
    context.every(hourMs, () => this.#prune())
    context.personal(
      personalOfUsers({
        count: (user) => this.#rows.count({ index: 'user', equals: user }),
        erase: (user) => eraseWithJobs(this.#rows, this.#queue, user),
      }),
    )
  }

  /** Whether this is a call that was approved before. */
  isApproved(id: string): boolean {
    return this.#calls.has(id)
  }

  /** Resolves when the call is on disk; false where as many wait already. */
  async add(call: Call, facts: Held, onTimeout: 'allow' | 'deny', mostPending: number): Promise<boolean> {
    if ((await this.#rows.count({ index: 'status', equals: 'pending' })) >= mostPending) return false
    const input: DeferredInput = {
      id: facts.id,
      expires_ms: Date.parse(facts.expires_at),
      on_timeout: onTimeout,
      call: deferCall(call),
    }
    await this.#context.store.transaction((transaction) => {
      transaction.put(this.#rows, facts.id, { ...facts, status: 'pending' })
      this.#queue.addIn(transaction, input, { id: facts.id })
      this.#context.emit(ApprovalRequested, facts, { in: transaction, cause: call })
    })
    return true
  }

  get(id: string): Promise<DeferredRow | undefined> {
    return this.#rows.get(id)
  }

  /** Those that wait, newest first. */
  pending(page: PageOptions): Promise<Page<DeferredRow>> {
    return this.#rows.list({ index: 'status', equals: 'pending', ...page, reverse: true })
  }

  async requestOf(id: string): Promise<ModelRequest | undefined> {
    return deferredInput.safeParse((await this.#queue.get(id))?.input).data?.call.request
  }

  async resultOf(id: string): Promise<DeferredResult | undefined> {
    return deferredResult.safeParse((await this.#queue.get(id))?.result).data
  }

  /** False when no such call waits, also where another admin or the time was faster. */
  async decide(id: string, decided: Verdict): Promise<boolean> {
    if ((await this.#rows.get(id))?.status !== 'pending') return false
    await this.#queue.signal(id, 'verdict', decided)
    return (await this.#decided(id, decided)) === decided
  }

  /** Records what was decided, once; resolves with the verdict that holds, which is the first one. */
  async #decided(id: string, decided: Verdict): Promise<Verdict | undefined> {
    let holds: Verdict | undefined
    await this.#rows.update(id, (row) => {
      holds = row?.status === 'pending' ? decided : row?.verdict
      return row?.status === 'pending'
        ? { ...row, status: decided.approved ? 'approved' : 'denied', verdict: decided }
        : row
    })
    if (holds === decided) this.#context.emit(ApprovalDecided, { id, ...decided })
    return holds
  }

  async #endCancelled(id: string): Promise<void> {
    await this.#rows.update(id, (row) =>
      row?.status === 'pending' || row?.status === 'approved'
        ? { ...row, status: 'failed', error: { code: 'cancelled', message: 'An admin cancelled the call.' } }
        : undefined,
    )
  }

  async #change(id: string, changes: Partial<DeferredRow>): Promise<void> {
    await this.#rows.update(id, (row) => row && { ...row, ...changes })
  }

  /** Forgets what was decided as long ago as its job is kept. */
  async #prune(): Promise<void> {
    const to = new Date(Date.now() - keptDays * 24 * hourMs).toISOString()
    for await (const [id, { status }] of this.#rows.scan({ index: 'created', to }))
      if (status !== 'pending' && status !== 'approved') await this.#rows.delete(id)
  }
}
