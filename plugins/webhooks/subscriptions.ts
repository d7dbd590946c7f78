import { type Actor, badRequest, type Context, type EventType, kernelServices, newId } from '#kernel'
import type { ChangeInput, WholeInput } from './fields.ts'
import { demandNames } from './names.ts'
import type { WebhookRow } from './rows.ts'
import { isSaidOn, saidOf, switched, type WebhookSaid } from './said.ts'
import { mostWebhooks, saidBy, sectionName, webhookSection } from './section.ts'
import { newSecret } from './signing.ts'
import { noWebhook, type Webhooks } from './webhooks.ts'

/**
 * What admins say of webhooks, which is a section of the configuration: each change is in its history. What came of deliveries,
 * rotations, and the webhooks of plugins are not.
 */
export class Subscriptions {
  readonly #context: Pick<Context<unknown>, 'use'>
  readonly #webhooks: Webhooks

  constructor(context: Pick<Context<unknown>, 'section' | 'use'>, webhooks: Webhooks) {
    this.#context = context
    this.#webhooks = webhooks
    const { rows, secrets } = webhooks
    context.section(
      webhookSection({ rows, secrets, demandNames: (events) => demandNames(events, this.#declared()) }),
    )
  }

  /** A new webhook and its secret, which is not shown again. */
  async create(input: WholeInput, actor: Actor): Promise<{ row: WebhookRow; secret: string }> {
    demandNames(input.events, this.#declared())
    const id = newId('wh_')
    const secret = newSecret()
    const at = new Date().toISOString()
    const { headers = {}, routing_key: key } = input
    const said: WebhookSaid = {
      ...saidBy(input),
      ...this.#webhooks.secrets.sealHeaders(headers),
      ...(key !== undefined && { routing_key: this.#webhooks.secrets.seal(key) }),
      secret: this.#webhooks.secrets.seal(secret),
      created_at: at,
      updated_at: at,
    }
    const row = await this.#say(id, actor, async () => {
      await this.#demandRoom()
      return said
    })
    return { row, secret }
  }

  /** Absent fields stay; null clears headers, a key and a filter. */
  async change(id: string, change: ChangeInput, actor: Actor): Promise<WebhookRow> {
    const { headers, routing_key: key, filter, ...given } = change
    if (given.events) demandNames(given.events, this.#declared())
    const plain = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    const fields = {
      ...plain,
      ...(filter !== undefined && { filter: filter ?? {} }),
      ...(key && { routing_key: this.#webhooks.secrets.seal(key) }),
    }
    const next = <R extends WebhookSaid>({ headers: sealed, routing_key: before, ...row }: R) => ({
      ...row,
      ...(key === undefined && before !== undefined && { routing_key: before }),
      ...(headers !== undefined
        ? this.#webhooks.secrets.sealHeaders(headers ?? {})
        : sealed !== undefined && { headers: sealed }),
      ...fields,
    })
    const { owner } = await this.#webhooks.find(id)
    if (owner !== undefined)
      return this.#webhooks.update(id, (row) => ({
        ...(next(row) as WebhookRow),
        ...(change.enabled !== undefined && change.enabled !== row.enabled && switched(change.enabled)),
      }))
    const updated_at = new Date().toISOString()
    const row = await this.#say(id, actor, (said) => ({ ...next(said ?? missing(id)), updated_at }))
    return change.enabled === true && row.gone ? this.#webhooks.update(id, on) : row
  }

  /** Has it get events again, as if it had never failed. */
  async enable(id: string, actor: Actor): Promise<WebhookRow> {
    const row = await this.#webhooks.find(id)
    if (row.owner !== undefined || isSaidOn(row)) return this.#webhooks.update(id, on)
    const updated_at = new Date().toISOString()
    return this.#say(id, actor, (said) => ({ ...(said ?? missing(id)), enabled: true, updated_at }))
  }

  /** Deletes a webhook of an admin. */
  async remove(id: string, actor: Actor): Promise<void> {
    await this.#apply(id, actor, () => undefined)
  }

  /** Changes what is said of a webhook, as one change of the configuration. */
  async #say(id: string, actor: Actor, next: Next): Promise<WebhookRow> {
    await this.#apply(id, actor, next)
    return this.#webhooks.find(id)
  }

  /** Asks what is to be said while nothing else changes, so that of two changes each adds to the one before. */
  async #apply(id: string, actor: Actor, next: Next): Promise<void> {
    await this.#context.use(kernelServices.registry).apply(async () => {
      const value = await next(saidOf(await this.#webhooks.rows.get(id)))
      return { rows: new Map(), values: [{ section: sectionName, key: id, value }] }
    }, actor)
  }

  async #demandRoom(): Promise<void> {
    let count = 0
    for await (const [, { owner }] of this.#webhooks.rows.scan()) if (owner === undefined) count += 1
    if (count >= mostWebhooks)
      throw badRequest(`There are ${mostWebhooks} webhooks; delete some first.`, { param: 'name' })
  }

  #declared(): EventType<unknown>[] {
    return this.#context
      .use(kernelServices.events)
      .list()
      .map(({ type }) => type)
  }
}

/** What is to be said of a webhook of which this is said; undefined for none. */
type Next = (said: WebhookSaid | undefined) => WebhookSaid | undefined | Promise<WebhookSaid | undefined>

const on = (row: WebhookRow): WebhookRow => ({ ...row, ...switched(true) })

function missing(id: string): never {
  throw noWebhook(id)
}
