import { isDeepStrictEqual } from 'node:util'
import { badRequest, type Collection, conflict, type PortableSection } from '#kernel'
import { changed } from '#kit'
import { demandKey, type WholeInput, wholeInput } from './fields.ts'
import type { WebhookRow } from './rows.ts'
import { rowOf, saidOf, type WebhookSaid } from './said.ts'
import type { WebhookSecrets } from './secrets.ts'
import { newSecret } from './signing.ts'

export const sectionName = 'webhooks'
export const mostWebhooks = 1000

interface Parts {
  readonly rows: Collection<WebhookRow>
  readonly secrets: WebhookSecrets
  /** Throws a bad request for names that no event has. */
  readonly demandNames: (events: readonly string[]) => void
}

/**
 * The webhooks of admins as a section of the configuration. No form has the headers, the key of PagerDuty, or the secret that signs:
 * of a webhook that a form makes it is new, and nobody has seen it.
 */
export const webhookSection = ({ rows, secrets, demandNames }: Parts): PortableSection<WebhookSaid> => ({
  name: sectionName,
  most: mostWebhooks,
  read: (transaction, id) => saidOf(transaction.get(rows, id)),
  write(transaction, id, said) {
    const now = transaction.get(rows, id)
    if (now?.owner !== undefined) throw conflict(kept(id, now.owner))
    if (said) transaction.put(rows, id, rowOf(id, said, now))
    else transaction.delete(rows, id)
  },
  show: shownOf,
  async *all() {
    for await (const [id, row] of rows.scan()) {
      const said = saidOf(row)
      if (said) yield [id, said]
    }
  },
  shared: formOf,
  withheld: ({ headers, routing_key: key, unseen }) => [
    ...(headers === undefined ? [] : ['headers']),
    ...(key === undefined ? [] : ['routing_key']),
    ...(unseen ? [] : ['secret']),
  ],
  async given(id, form, before) {
    if (!/^[\w-]{1,100}$/.test(id)) throw badRequest('An id has letters, digits, - and _, at most 100.')
    if (typeof form !== 'object' || form === null) throw badRequest('Expected an object.')
    if ('secret' in form)
      throw badRequest('body secret: it is made here; rotate the webhook to get one.', { param: 'secret' })
    const owner = (await rows.get(id))?.owner
    if (owner !== undefined) throw badRequest(kept(id, owner))
    const input = changed({}, form, wholeInput)
    if (!isDeepStrictEqual(input.events, before?.events)) demandNames(input.events)
    const next = { ...saidBy(input), ...secretsBy(form, input, before, secrets) }
    demandKey(next.format, next.routing_key)
    const now = new Date().toISOString()
    const { secret = secrets.seal(newSecret()), unseen = !before, created_at = now } = before ?? {}
    const said = { ...next, secret, ...(unseen && { unseen }), created_at }
    if (before && isDeepStrictEqual({ ...said, updated_at: before.updated_at }, before)) return before
    return { ...said, updated_at: now }
  },
})

const kept = (id: string, owner: string): string => `The webhook ${id} is kept for ${owner}.`

export const saidBy = ({ name, url, events, enabled, format, filter }: WholeInput) => ({
  name,
  url,
  events,
  enabled,
  format,
  filter,
})

/** The fields of a form that are stored encrypted. Those that it does not name stay, and with null they go. */
function secretsBy(
  form: { readonly headers?: unknown; readonly routing_key?: unknown },
  input: WholeInput,
  before: WebhookSaid | undefined,
  secrets: WebhookSecrets,
): Pick<WebhookRow, 'header_names' | 'headers' | 'routing_key'> {
  const isSame = before !== undefined && secrets.areHeaders(before, input.headers)
  const areKept = before !== undefined && (form.headers === undefined || isSame)
  const isKept = form.routing_key === undefined || secrets.isRoutingKey(before, input.routing_key)
  const key = isKept ? before?.routing_key : input.routing_key && secrets.seal(input.routing_key)
  const { headers, header_names } = areKept ? before : secrets.sealHeaders(input.headers ?? {})
  return {
    header_names,
    ...(headers !== undefined && { headers }),
    ...(key !== undefined && { routing_key: key }),
  }
}

function formOf({ name, url, events, enabled, format, filter }: WebhookSaid): object {
  return { name, url, events, enabled, format, filter }
}

/** For the history. */
function shownOf(said: WebhookSaid): object {
  const { header_names: headers, created_at, updated_at } = said
  return { ...formOf(said), headers, created_at, updated_at }
}
