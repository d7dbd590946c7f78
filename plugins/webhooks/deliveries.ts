import { createHash } from 'node:crypto'
import {
  type Collection,
  conflict,
  notFound,
  type Occurrence,
  type Page,
  type PageOptions,
  type Secrets,
  type Store,
} from '#kernel'
import { Batches } from './batches.ts'
import { bodyOf, type Message } from './formats.ts'
import { isDeliverable, nameFor } from './names.ts'
import { type DeliveryRow, deliveryRow, type WebhookRow } from './rows.ts'
import { sha256Of } from './signing.ts'
import type { Webhooks } from './webhooks.ts'

/** Deliveries of one webhook that may wait; beyond them events are dropped, and shown as that. */
const mostWaiting = 10_000

interface Addressed {
  readonly webhook: WebhookRow
  readonly message: Message
}

interface Arrival {
  readonly occurrence: string
  readonly messages: readonly Addressed[]
}

/** What is sent to whom, on disk: a row that waits is sent by `Dispatch`. Bodies are encrypted, as they hold what happened. */
export class Deliveries {
  readonly rows: Collection<DeliveryRow>
  readonly #store: Store
  readonly #webhooks: Webhooks
  readonly #secrets: () => Secrets
  readonly #arrivals = new Batches<Arrival, string[]>((arrivals) => this.#write(arrivals))

  constructor(store: Store, webhooks: Webhooks, secrets: () => Secrets) {
    this.#store = store
    this.#webhooks = webhooks
    this.#secrets = secrets
    this.rows = store.collection('deliveries', {
      schema: deliveryRow,
      indexes: {
        webhook: ({ webhook, created_at }) => [[webhook, created_at]],
        state: ({ webhook, status }) => [[webhook, status]],
      },
    })
  }

  /**
   * Queues an occurrence for its subscribers; undefined when there are none. When it resolves, it survives the process; the
   * same occurrence counts once.
   */
  take(occurrence: Occurrence): Promise<unknown> | undefined {
    const { type, data } = occurrence
    if (!isDeliverable(type)) return undefined
    const messages: Addressed[] = []
    for (const webhook of this.#webhooks.enabled) {
      const event = nameFor(type, webhook.events)
      if (event !== undefined && passes(webhook, data))
        messages.push({ webhook, message: { event, timestamp: occurrence.timestamp, data } })
    }
    // An id and a time are made when they are read, and most calls have no subscriber.
    return messages.length > 0 ? this.add(occurrence.id, messages) : undefined
  }

  /** Queues messages of one occurrence in one transaction; returns the ids of their deliveries. */
  add(occurrence: string, messages: readonly Addressed[]): Promise<string[]> {
    return this.#arrivals.add({ occurrence, messages })
  }

  async #write(arrivals: readonly Arrival[]): Promise<string[][]> {
    const waiting = new Map<string, number>()
    const rows: DeliveryRow[][] = []
    for (const { occurrence, messages } of arrivals) {
      const own: DeliveryRow[] = []
      for (const { webhook, message } of messages) {
        const before = waiting.get(webhook.id) ?? (await this.#countWaiting(webhook.id))
        waiting.set(webhook.id, before + 1)
        own.push(this.#rowOf(occurrence, webhook, message, before >= mostWaiting))
      }
      rows.push(own)
    }
    await this.#store.transaction((tx) => {
      for (const row of rows.flat()) if (!tx.get(this.rows, row.id)) tx.put(this.rows, row.id, row)
    })
    return rows.map((own) => own.map(({ id }) => id))
  }

  #rowOf(occurrence: string, webhook: WebhookRow, message: Message, isFull: boolean): DeliveryRow {
    const at = new Date().toISOString()
    const body = bodyOf(message, webhook.format)
    return {
      id: deliveryIdOf(occurrence, webhook.id),
      webhook: webhook.id,
      event: message.event,
      body: this.#secrets().encrypt(body),
      sha256: sha256Of(body),
      status: isFull ? 'dropped' : 'pending',
      ...(isFull && { error: `${mostWaiting} deliveries of the webhook are waiting.` }),
      attempts: 0,
      created_at: at,
      updated_at: at,
    }
  }

  #countWaiting(webhook: string): Promise<number> {
    return this.rows.count({ index: 'state', equals: [webhook, 'pending'] })
  }

  /** Sends an ended delivery anew, with its id. */
  again(webhook: string, id: string): Promise<DeliveryRow> {
    return this.#store.transaction((tx) => {
      const found = tx.get(this.rows, id)
      if (found?.webhook !== webhook)
        throw notFound(`There is no delivery ${id} of this webhook.`, { param: 'deliveryId' })
      const { job: _, ...row } = found
      if (row.status === 'pending')
        throw conflict('This delivery is still under way.', { param: 'deliveryId' })
      const next: DeliveryRow = { ...row, status: 'pending', updated_at: new Date().toISOString() }
      tx.put(this.rows, id, next)
      return next
    })
  }

  /** The body as it is sent. Throws `SECRET_UNREADABLE` under another encryption key. */
  bodyOf({ body }: DeliveryRow): string {
    const secrets = this.#secrets()
    return secrets.isEncrypted(body) ? secrets.decrypt(body) : body
  }

  /** Ends a delivery that is not to be sent. */
  async drop(id: string, error: string): Promise<void> {
    const updated_at = new Date().toISOString()
    await this.rows.update(id, (row) => row && { ...row, status: 'dropped', error, updated_at })
  }

  /** Newest first. */
  list(webhook: string, page: PageOptions): Promise<Page<DeliveryRow>> {
    return this.rows.list({ ...page, index: 'webhook', equals: webhook, reverse: true })
  }

  /** Deletes all deliveries of a webhook that is no more; attempts that wait find nothing to send. */
  async erase(webhook: string): Promise<void> {
    for await (const [id] of this.rows.scan({ index: 'webhook', equals: webhook })) await this.rows.delete(id)
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
