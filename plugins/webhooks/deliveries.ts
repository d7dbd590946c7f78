import { createHash } from 'node:crypto'
import {
  type Collection,
  type Context,
  conflict,
  type JobQueue,
  Jobs,
  newId,
  notFound,
  type Occurrence,
  type Page,
  type PageOptions,
  type Transaction,
} from '#kernel'
import { bodyOf, type Message, withRoutingKey } from './formats.ts'
import { isDeliverable, nameFor } from './names.ts'
import { type DeliveryRow, deliveryRow, type WebhookRow } from './rows.ts'
import { type Attempted, attempt, type Task, taskSchema } from './sending.ts'
import type { Webhooks } from './webhooks.ts'

/** Deliveries of one webhook that may wait; beyond them events are dropped, and shown as that. */
const mostWaiting = 10_000
/** Ended deliveries that are kept of each webhook, and for how long. */
const kept = { count: 1000, days: 7 }
const dayMs = 86_400_000

/** Enough that receivers which hang leave room for others, and that deliveries share the syncs of the disk. */
const concurrency = 512
const perWebhook = 32
/** Longer than an attempt may take. */
const timeoutMs = 25_000
/** A receiver gets what fell due while the gateway was down over a minute. */
const spreadMs = 60_000

/** Puts what happens into the queue of each subscriber, and sends it. */
export class Deliveries {
  readonly rows: Collection<DeliveryRow>
  readonly #context: Pick<Context<unknown>, 'store' | 'fetch' | 'log'>
  readonly #webhooks: Webhooks
  readonly #queue: JobQueue<Task>

  constructor(context: Context<unknown>, webhooks: Webhooks, delaysMs: readonly number[]) {
    this.#context = context
    this.#webhooks = webhooks
    this.rows = context.store.collection('deliveries', {
      schema: deliveryRow,
      indexes: {
        webhook: ({ webhook, created_at }) => [[webhook, created_at]],
        state: ({ webhook, status }) => [[webhook, status]],
      },
    })
    this.#queue = context.use(Jobs).define(context, 'delivery', {
      input: taskSchema,
      concurrency,
      lane: ({ webhook }) => webhook,
      perLane: perWebhook,
      delaysMs,
      timeoutMs,
      spreadMs,
      keep: { days: 1, most: 1000 },
      run: ({ input, signal }) => this.#send(input, signal),
      gaveUp: ({ input }) => this.#giveUp(input),
    })
  }

  /**
   * Queues an occurrence for its subscribers; undefined when there are none. When it resolves, it survives the process; the
   * same occurrence counts once.
   */
  take(occurrence: Occurrence): Promise<unknown> | undefined {
    const { type, data } = occurrence
    if (!isDeliverable(type)) return undefined
    const messages: { webhook: WebhookRow; message: Message }[] = []
    for (const webhook of this.#webhooks.enabled) {
      const event = nameFor(type, webhook.events)
      if (event !== undefined && passes(webhook, data))
        messages.push({ webhook, message: { event, timestamp: occurrence.timestamp, data } })
    }
    // An id and a time are made when they are read, and most calls have no subscriber.
    return messages.length > 0 ? this.add(occurrence.id, messages) : undefined
  }

  /** Queues messages of one occurrence in one transaction; returns the ids of their deliveries. */
  async add(
    occurrence: string,
    messages: readonly { readonly webhook: WebhookRow; readonly message: Message }[],
  ): Promise<string[]> {
    const at = new Date().toISOString()
    const rows: DeliveryRow[] = []
    for (const { webhook, message } of messages) {
      const waiting = await this.rows.count({ index: 'state', equals: [webhook.id, 'pending'] })
      const id = deliveryIdOf(occurrence, webhook.id)
      const isFull = waiting >= mostWaiting
      const body = bodyOf(message, webhook.format)
      const { event } = message
      const times = { created_at: at, updated_at: at }
      rows.push({
        id,
        webhook: webhook.id,
        event,
        body,
        status: isFull ? 'dropped' : 'pending',
        ...(isFull && { error: `${mostWaiting} deliveries of the webhook are waiting.` }),
        attempts: 0,
        job: id,
        ...times,
      })
    }
    await this.#context.store.transaction((tx) => {
      for (const row of rows) {
        if (tx.get(this.rows, row.id)) continue
        tx.put(this.rows, row.id, row)
        if (row.status === 'pending') this.#queueIn(tx, row)
      }
    })
    return rows.map(({ id }) => id)
  }

  /** Sends an ended delivery anew, with its id. */
  async again(webhook: string, id: string): Promise<DeliveryRow> {
    await this.find(webhook, id)
    return this.#context.store.transaction((tx) => {
      const row = tx.get(this.rows, id)!
      if (row.status === 'pending')
        throw conflict('This delivery is still under way.', { param: 'deliveryId' })
      const next: DeliveryRow = {
        ...row,
        status: 'pending',
        job: newId(`${id}.`),
        updated_at: new Date().toISOString(),
      }
      tx.put(this.rows, id, next)
      this.#queueIn(tx, next)
      return next
    })
  }

  async find(webhook: string, id: string): Promise<DeliveryRow> {
    const found = await this.rows.get(id)
    if (found?.webhook !== webhook)
      throw notFound(`There is no delivery ${id} of this webhook.`, { param: 'deliveryId' })
    return found
  }

  /** Newest first. */
  list(webhook: string, page: PageOptions): Promise<Page<DeliveryRow>> {
    return this.rows.list({ ...page, index: 'webhook', equals: webhook, reverse: true })
  }

  /** When a delivery is tried next, in milliseconds since the epoch. */
  async nextTry({ status, job, attempts }: DeliveryRow): Promise<number | undefined> {
    return status === 'pending' && attempts > 0 ? (await this.#queue.get(job))?.dueAt : undefined
  }

  /** Deletes all deliveries of a webhook that is no more; attempts that wait find nothing to send. */
  async erase(webhook: string): Promise<void> {
    for await (const [id] of this.rows.scan({ index: 'webhook', equals: webhook })) await this.rows.delete(id)
  }

  /** How many deliveries name a user. */
  async countOf(user: string): Promise<number> {
    let count = 0
    for await (const _ of this.#naming(user)) count += 1
    return count
  }

  /** Deletes the deliveries that name a user, also those that wait, and returns how many. */
  async eraseOf(user: string): Promise<number> {
    let erased = 0
    for await (const id of this.#naming(user)) if (await this.rows.delete(id)) erased += 1
    return erased
  }

  async *#naming(user: string): AsyncIterable<string> {
    for await (const [id, { body }] of this.rows.scan()) if (body.includes(user)) yield id
  }

  /** Forgets ended deliveries that are old, or of which there are many newer ones, and webhooks of plugins that have none left. */
  async prune(now = Date.now()): Promise<void> {
    const oldest = new Date(now - kept.days * dayMs).toISOString()
    for await (const [webhook, { owner, updated_at: used }] of this.#webhooks.rows.scan()) {
      let ended = 0
      for await (const [id, row] of this.rows.scan({ index: 'webhook', equals: webhook, reverse: true })) {
        if (row.status === 'pending') continue
        ended += 1
        if (ended > kept.count || row.created_at < oldest) await this.rows.delete(id)
      }
      const isUnused = owner !== undefined && ended === 0 && used < oldest
      if (isUnused && (await this.rows.count({ index: 'webhook', equals: webhook })) === 0)
        await this.#webhooks.rows.delete(webhook)
    }
  }

  #queueIn(tx: Transaction, { id, webhook, job }: DeliveryRow): void {
    this.#queue.addIn(tx, { delivery: id, webhook }, { id: job })
  }

  /** One attempt. What is thrown has the job tried again, or ends it. */
  async #send({ delivery: id, webhook: of }: Task, signal: AbortSignal): Promise<string> {
    const [row, webhook] = [await this.rows.get(id), await this.#webhooks.rows.get(of)]
    if (!row) return 'deleted'
    if (!webhook) {
      // The event was queued while the webhook was being deleted.
      await this.rows.delete(id)
      return 'deleted'
    }
    if (!webhook.enabled) {
      await this.#change(id, { status: 'dropped', error: 'The webhook is switched off.' })
      return 'dropped'
    }
    const secrets = this.#webhooks.secretsOf(webhook)
    const headers = this.#webhooks.headersOf(webhook)
    const key = this.#webhooks.routingKeyOf(webhook)
    const body = webhook.format === 'pagerduty' ? withRoutingKey(row.body, key) : row.body
    const sent = { id, body, url: webhook.url, secrets, headers, signal }
    const done = await attempt(this.#context.fetch, sent)
    await this.#record(row, done)
    if (done.failure) throw done.failure
    return 'sent'
  }

  async #record(
    { id, webhook, attempts }: DeliveryRow,
    { failure, status, latencyMs }: Attempted,
  ): Promise<void> {
    const at = new Date().toISOString()
    await this.#context.store.transaction((tx) => {
      tx.update(this.rows, id, (row) => {
        if (!row) return undefined
        const { response_status: _, error: __, ...rest } = row
        return {
          ...rest,
          attempts: attempts + 1,
          latency_ms: latencyMs,
          ...(status !== undefined && { response_status: status }),
          ...(failure && { error: failure.message }),
          ...(!failure && { status: 'success' as const }),
          updated_at: at,
        }
      })
      if (!failure) this.#webhooks.succeed(tx, webhook, at)
      if (failure?.isGone) this.#webhooks.retire(tx, webhook)
    })
  }

  async #giveUp({ delivery: id, webhook }: Task): Promise<void> {
    const at = new Date().toISOString()
    await this.#context.store.transaction((tx) => {
      const row = tx.get(this.rows, id)
      if (row?.status !== 'pending') return
      tx.put(this.rows, id, { ...row, status: 'failed', updated_at: at })
      this.#webhooks.fail(tx, webhook, at)
    })
    this.#context.log.warn({ webhook, delivery: id }, 'a webhook could not be delivered')
  }

  async #change(id: string, change: Pick<DeliveryRow, 'status' | 'error'>): Promise<void> {
    const updated_at = new Date().toISOString()
    await this.rows.update(id, (row) => row && { ...row, ...change, updated_at })
  }
}

/** The same for an occurrence and a webhook each time, so that the two meet once. */
export const deliveryIdOf = (occurrence: string, webhook: string): string =>
  `dlv_${createHash('sha256').update(`${occurrence} ${webhook}`).digest('hex').slice(0, 32)}`

/** Whether the data has one of the values that the webhook wants of each field. */
function passes({ filter }: WebhookRow, data: unknown): boolean {
  const fields = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>
  return Object.entries(filter).every(([name, values]) => values.includes(fields[name] as string))
}
