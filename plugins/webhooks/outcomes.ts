import { type Context, type JobQueue, newId, type Transaction } from '#kernel'
import { Batches } from './batches.ts'
import type { Deliveries } from './deliveries.ts'
import { type DeliveryRow, isUntried } from './rows.ts'
import type { Attempted, DeliveryFailed, Task } from './sending.ts'
import type { Webhooks } from './webhooks.ts'

interface OutcomesParts {
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly retries: JobQueue<Task>
  /** Milliseconds before the second attempt; undefined where there is none. */
  readonly pauseMs: number | undefined
}

/** An attempt that was made, and what comes of it. */
interface Made {
  readonly tried: DeliveryRow
  readonly done: Attempted
  readonly at: string
  /** The job that tries again after the first attempt. */
  readonly next: { readonly id: string; readonly at: number } | undefined
}

/** Notes what came of attempts: those that end together share a transaction. */
export class Outcomes {
  readonly #context: Pick<Context<unknown>, 'store' | 'log'>
  readonly #parts: OutcomesParts
  readonly #made = new Batches<Made, undefined>((all) => this.#write(all))

  constructor(context: Pick<Context<unknown>, 'store' | 'log'>, parts: OutcomesParts) {
    this.#context = context
    this.#parts = parts
  }

  /** Notes what came of an attempt. After the first one the next is planned with it, or none. */
  async record(tried: DeliveryRow, done: Attempted): Promise<void> {
    const { id, webhook } = tried
    const { failure } = done
    // Made outside of the transaction, whose function may run again and must ask for the same rows then.
    const next = failure && isUntried(tried) ? this.#nextOf(id, failure) : undefined
    await this.#made.add({ tried, done, at: new Date().toISOString(), next })
    if (failure && isUntried(tried))
      this.#context.log.warn({ webhook, delivery: id, err: failure }, 'the first attempt of a webhook failed')
  }

  /** Ends a delivery whose attempts are used up. */
  async giveUp({ delivery: id, webhook }: Task): Promise<void> {
    const { webhooks, deliveries } = this.#parts
    const at = new Date().toISOString()
    await this.#context.store.transaction((tx) => {
      const row = tx.get(deliveries.rows, id)
      if (row?.status !== 'pending') return
      tx.put(deliveries.rows, id, { ...row, status: 'failed', updated_at: at })
      webhooks.fail(tx, webhook, at)
    })
    this.#context.log.warn({ webhook, delivery: id }, 'a webhook could not be delivered')
  }

  /** Ends a delivery whose job was cancelled, unless it is sent anew. */
  async drop(job: string, { delivery: id }: Task): Promise<void> {
    const error = 'An admin cancelled the delivery.'
    const updated_at = new Date().toISOString()
    await this.#parts.deliveries.rows.update(id, (row) =>
      row?.status === 'pending' && row.job !== undefined && job.endsWith(row.job)
        ? { ...row, status: 'dropped', error, updated_at }
        : undefined,
    )
  }

  /** The job that tries again; undefined when none should. */
  #nextOf(delivery: string, failure: DeliveryFailed): Made['next'] {
    const { pauseMs } = this.#parts
    if (pauseMs === undefined || !failure.retryable) return undefined
    return { id: newId(`${delivery}.`), at: Date.now() + failure.pauseMs(pauseMs) }
  }

  async #write(all: readonly Made[]): Promise<undefined[]> {
    await this.#context.store.transaction((tx) => {
      for (const made of all) this.#writeOne(tx, made)
    })
    return all.map(() => undefined)
  }

  #writeOne(tx: Transaction, { tried: { id, webhook, attempts }, done, at, next }: Made): void {
    const { webhooks, deliveries, retries } = this.#parts
    const { failure, status, latencyMs } = done
    const row = tx.get(deliveries.rows, id)
    if (!row) return
    const { response_status: _, error: __, ...rest } = row
    const job = next?.id ?? row.job
    const isLast = failure !== undefined && job === undefined
    if (next) retries.addIn(tx, { delivery: id, webhook }, next)
    tx.put(deliveries.rows, id, {
      ...rest,
      attempts: attempts + 1,
      latency_ms: latencyMs,
      ...(status !== undefined && { response_status: status }),
      ...(failure && { error: failure.message }),
      ...(job !== undefined && { job }),
      ...(!failure && { status: 'success' as const }),
      ...(isLast && { status: 'failed' as const }),
      updated_at: at,
    })
    if (!failure) webhooks.succeed(tx, webhook, at)
    if (isLast) webhooks.fail(tx, webhook, at)
    if (failure?.gone !== undefined) webhooks.retire(tx, webhook, failure.gone)
  }
}
