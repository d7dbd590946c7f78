import { type Collection, newId, notFound, type Secrets, type Store, type Transaction } from '#kernel'
import { followRows } from '#kit'
import type { Format } from './formats.ts'
import { type WebhookRow, webhookRow } from './rows.ts'
import { WebhookSecrets } from './secrets.ts'
import { newSecret } from './signing.ts'

/** The settings of a webhook, as an admin gives them. */
export interface WebhookInput {
  readonly name: string
  readonly url: string
  readonly events: readonly string[]
  readonly enabled: boolean
  readonly format: Format
  readonly headers: Readonly<Record<string, string>>
  readonly routing_key: string | undefined
  readonly filter: WebhookRow['filter']
  /** Given for one that a plugin keeps, which knows it by this id. */
  readonly kept?: { readonly id: string; readonly owner: string }
}

type WebhookChange = Partial<Omit<WebhookInput, 'kept' | 'routing_key'>> & {
  readonly routing_key?: string | null
}

/** The subscriptions, on disk and, for each event that happens, in memory. */
export class Webhooks {
  readonly rows: Collection<WebhookRow>
  readonly secrets: WebhookSecrets
  readonly #enabled = new Map<string, WebhookRow>()

  constructor(store: Store, secrets: () => Secrets) {
    this.secrets = new WebhookSecrets(secrets)
    this.rows = store.collection('webhooks', { schema: webhookRow })
  }

  /** Reads what there is, and follows changes of every thread. Returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.rows, (id, row) => {
      if (row?.enabled) this.#enabled.set(id, row)
      else this.#enabled.delete(id)
    })
  }

  get enabled(): Iterable<WebhookRow> {
    return this.#enabled.values()
  }

  /** Throws a not found for no such webhook. */
  async find(id: string): Promise<WebhookRow> {
    const found = await this.rows.get(id)
    if (!found) throw noWebhook(id)
    return found
  }

  /** A new webhook and its secret, which is not shown again. */
  async create({
    headers,
    routing_key,
    kept,
    ...given
  }: WebhookInput): Promise<{ row: WebhookRow; secret: string }> {
    const at = new Date().toISOString()
    const secret = newSecret()
    const row: WebhookRow = {
      ...given,
      id: kept?.id ?? newId('wh_'),
      ...(kept && { owner: kept.owner }),
      events: [...given.events],
      status: given.enabled ? 'active' : 'disabled',
      ...this.secrets.sealHeaders(headers),
      ...(routing_key !== undefined && { routing_key: this.secrets.seal(routing_key) }),
      secret: this.secrets.seal(secret),
      consecutive_failures: 0,
      created_at: at,
      updated_at: at,
    }
    await this.rows.put(row.id, row)
    return { row, secret }
  }

  /** Absent fields stay; null clears a key. */
  change(id: string, { headers, routing_key, enabled, ...given }: WebhookChange): Promise<WebhookRow> {
    const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    return this.#update(id, ({ headers: kept, routing_key: key, ...row }) => ({
      ...row,
      ...(headers ? this.secrets.sealHeaders(headers) : kept !== undefined && { headers: kept }),
      ...(routing_key === undefined && key !== undefined && { routing_key: key }),
      ...(routing_key && { routing_key: this.secrets.seal(routing_key) }),
      ...said,
      ...(enabled !== undefined && enabled !== row.enabled && switched(enabled)),
    }))
  }

  /** Has it get events again, as if it had never failed. */
  enable(id: string): Promise<WebhookRow> {
    return this.#update(id, (row) => ({ ...row, ...switched(true) }))
  }

  /** Gives it a new secret; the one before signs too for so many seconds. */
  async rotate(id: string, graceS: number): Promise<{ row: WebhookRow; secret: string }> {
    const secret = newSecret()
    const until = new Date(Date.now() + graceS * 1000).toISOString()
    const row = await this.#update(id, ({ former: _, ...now }) => ({
      ...now,
      secret: this.secrets.seal(secret),
      ...(graceS > 0 && { former: { secret: now.secret, until } }),
    }))
    return { row, secret }
  }

  /** Notes a success in the transaction of its delivery: a failing webhook is active again. */
  succeed(tx: Transaction, id: string, at: string): void {
    if (isNoted(this.#enabled.get(id), at)) return
    tx.update(this.rows, id, (row) => {
      if (!row || isNoted(row, at)) return undefined
      const status = row.status === 'failing' ? 'active' : row.status
      return { ...row, status, consecutive_failures: 0, last_delivery_at: at }
    })
  }

  /** Notes a delivery that used up its attempts. */
  fail(tx: Transaction, id: string, at: string): void {
    tx.update(this.rows, id, (row) => {
      if (!row) return undefined
      const status = row.enabled ? 'failing' : row.status
      return { ...row, status, consecutive_failures: row.consecutive_failures + 1, last_delivery_at: at }
    })
  }

  /** Switches off what says that its address is gone, unless it has another one since. */
  retire(tx: Transaction, id: string, url: string): void {
    tx.update(this.rows, id, (row) => (row?.url === url ? { ...row, ...switched(false) } : undefined))
  }

  async #update(id: string, change: (row: WebhookRow) => WebhookRow): Promise<WebhookRow> {
    const updated_at = new Date().toISOString()
    const changed = await this.rows.update(id, (row) => row && { ...change(row), updated_at })
    if (!changed) throw noWebhook(id)
    return changed
  }
}

/** Whether a success changes nothing. It is noted once a second, as a row for each delivery would cost as much as the delivery. */
const isNoted = (row: WebhookRow | undefined, at: string): boolean =>
  row?.consecutive_failures === 0 &&
  row.status !== 'failing' &&
  (row.last_delivery_at ?? '').slice(0, 19) === at.slice(0, 19)

const switched = (enabled: boolean): Pick<WebhookRow, 'enabled' | 'status' | 'consecutive_failures'> => ({
  enabled,
  status: enabled ? 'active' : 'disabled',
  consecutive_failures: 0,
})

const noWebhook = (id: string) => notFound(`There is no webhook ${id}.`, { param: 'id' })
