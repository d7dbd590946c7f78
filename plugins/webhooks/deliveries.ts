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
import { bodyOf, type Message } from './formats.ts'
import { isDeliverable, nameFor } from './names.ts'
import { type DeliveryRow, deliveryRow, type WebhookRow } from './rows.ts'
import { sha256Of } from './signing.ts'
import type { Webhooks } from './webhooks.ts'

/** Deliveries of one webhook that may wait; beyond them events are dropped, and shown as that. */
const mostWaiting = 10_000
/** Ended deliveries that are kept of each webhook, and for how long. */
const kept = { count: 1000, days: 7 }
const dayMs = 86_400_000

/** What is sent to whom, on disk: a row that waits is sent by `Dispatch`. Bodies are encrypted, as they hold what happened. */
export class Deliveries {
  readonly rows: Collection<DeliveryRow>
  readonly #store: Store
  readonly #webhooks: Webhooks
  readonly #secrets: () => Secrets

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
      const isFull = waiting >= mostWaiting
      const body = bodyOf(message, webhook.format)
      rows.push({
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
      })
    }
    await this.#store.transaction((tx) => {
      for (const row of rows) if (!tx.get(this.rows, row.id)) tx.put(this.rows, row.id, row)
    })
    return rows.map(({ id }) => id)
  }

  /** Sends an ended delivery anew, with its id. */
  async again(webhook: string, id: string): Promise<DeliveryRow> {
    await this.find(webhook, id)
    return this.#store.transaction((tx) => {
      const { job: _, ...row } = tx.get(this.rows, id)!
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
    for await (const [id, row] of this.rows.scan()) if (this.bodyOf(row).includes(user)) yield id
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
}

/** The same for an occurrence and a webhook each time, so that the two meet once. */
export const deliveryIdOf = (occurrence: string, webhook: string): string =>
  `dlv_${createHash('sha256').update(`${occurrence} ${webhook}`).digest('hex').slice(0, 32)}`

/** Whether the data has one of the values that the webhook wants of each field. */
function passes({ filter }: WebhookRow, data: unknown): boolean {
  const fields = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>
  return Object.entries(filter).every(([name, values]) => values.includes(fields[name] as string))
}
