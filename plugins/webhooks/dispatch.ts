import { type Context, type JobQueue, Jobs } from '#kernel'
import { detach, persist } from '#kit'
import type { Deliveries } from './deliveries.ts'
import type { FirstAttempts } from './first-attempts.ts'
import { withRoutingKey } from './formats.ts'
import { Outcomes } from './outcomes.ts'
import { type DeliveryRow, isUntried, type WebhookRow } from './rows.ts'
import { type Attempted, attempt, DeliveryFailed, type Task, taskSchema } from './sending.ts'
import type { Webhooks } from './webhooks.ts'

/** As of first attempts. */
const concurrency = 512
const perWebhook = 32
/** Longer than an attempt may take. */
const timeoutMs = 25_000
/** A receiver gets what fell due while the gateway was down over a minute. */
const spreadMs = 60_000

interface DispatchParts {
  readonly webhooks: Webhooks
  readonly deliveries: Deliveries
  readonly first: FirstAttempts
  /** Milliseconds before the second attempt, the third and so on. */
  readonly delaysMs: readonly number[]
}

/**
 * Sends deliveries. The first attempt needs no more on disk than the row of the delivery, because most receivers answer; one
 * that failed is tried again by a job.
 */
export class Dispatch {
  readonly #context: Pick<Context<unknown>, 'post'>
  readonly #parts: DispatchParts
  readonly #retries: JobQueue<Task>
  readonly #stopped = new AbortController()
  readonly #outcomes: Outcomes

  constructor(context: Context<unknown>, parts: DispatchParts) {
    const { whenLive, own, use, askFirstThread } = context
    this.#context = context
    this.#parts = parts
    this.#retries = use(Jobs).define(context, 'delivery', {
      input: taskSchema,
      concurrency,
      lane: ({ webhook }) => webhook,
      perLane: perWebhook,
      delaysMs: parts.delaysMs.slice(1),
      timeoutMs,
      spreadMs,
      keep: { days: 1, most: 1000 },
      run: ({ input, signal }) => this.#retry(input, signal),
      gaveUp: ({ input }) => this.#outcomes.giveUp(input),
      cancelled: ({ id, input }) => this.#outcomes.drop(id, input),
    })
    const { webhooks, deliveries, delaysMs } = parts
    const [pauseMs] = delaysMs
    this.#outcomes = new Outcomes(context, { webhooks, deliveries, retries: this.#retries, pauseMs })
    own(() => this.#stopped.abort())
    const isFirstThread = askFirstThread('sends', () => true)(undefined) === true
    if (!isFirstThread) return
    own(webhooks.rows.watch(({ id, row }) => row ?? detach('webhooks', deliveries.erase(id))))
    whenLive(async () => own(await this.#begin()))
  }

  /** When a delivery is tried next, in milliseconds since the epoch; undefined before its first attempt and after its last. */
  async nextTry({ status, job }: DeliveryRow): Promise<number | undefined> {
    return status === 'pending' && job !== undefined ? (await this.#retries.get(job))?.dueAt : undefined
  }

  /** Sends what waits on disk, and from then on what is added by any thread. Returns what ends that. */
  #begin(): Promise<() => void> {
    const { first, deliveries, webhooks } = this.#parts
    const { rows } = deliveries
    return first.sendBy((id) => this.#first(id), {
      watch: (add) => rows.watch(({ id, row }) => isUntried(row) && add(row.webhook, id)),
      async *waiting() {
        for await (const [webhook] of webhooks.rows.scan())
          for await (const [id, row] of rows.scan({ index: 'state', equals: [webhook, 'pending'] }))
            if (isUntried(row)) yield [webhook, id]
      },
    })
  }

  async #first(id: string): Promise<boolean> {
    const { signal } = this.#stopped
    try {
      const row = await this.#parts.deliveries.rows.get(id)
      const done = isUntried(row) ? await this.#attempt(row, signal) : undefined
      if (row && done) await persist(() => this.#outcomes.record(row, done))
      return true
    } catch (error) {
      if (signal.aborted) return false
      throw error
    }
  }

  /** One more attempt. What is thrown has the job tried again, or ends it. */
  async #retry({ delivery: id }: Task, signal: AbortSignal): Promise<string> {
    const row = await this.#parts.deliveries.rows.get(id)
    const done = row && (await this.#attempt(row, signal))
    if (!done) return 'dropped'
    await this.#outcomes.record(row, done)
    if (done.failure) throw done.failure
    return 'sent'
  }

  /** Sends a delivery; undefined when it is not to be sent any more. Rejects only when it is stopped. */
  async #attempt(row: DeliveryRow, signal: AbortSignal): Promise<Attempted | undefined> {
    try {
      const webhook = await this.#receiverOf(row)
      return webhook && (await attempt(this.#context.post, { ...this.#sentOf(row, webhook), signal }))
    } catch (error) {
      if (signal.aborted) throw error
      const failure = new DeliveryFailed((error as Error).message, {})
      return { status: undefined, latencyMs: 0, failure }
    }
  }

  /** Undefined where nothing is to be sent, which ends the delivery. */
  async #receiverOf({ id, webhook: of }: DeliveryRow): Promise<WebhookRow | undefined> {
    const { webhooks, deliveries } = this.#parts
    const webhook = await webhooks.rows.get(of)
    if (webhook?.enabled) return webhook
    if (webhook) await deliveries.drop(id, 'The webhook is switched off.')
    // The event was queued while the webhook was being deleted.
    else await deliveries.rows.delete(id)
    return undefined
  }

  #sentOf(row: DeliveryRow, webhook: WebhookRow) {
    const { webhooks, deliveries } = this.#parts
    const body = deliveries.bodyOf(row)
    const key = webhooks.secrets.routingKeyOf(webhook)
    return {
      id: row.id,
      body: webhook.format === 'pagerduty' ? withRoutingKey(body, key) : body,
      url: webhook.url,
      secrets: webhooks.secrets.signingOf(webhook),
      headers: webhooks.secrets.headersOf(webhook),
    }
  }
}
