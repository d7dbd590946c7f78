import { isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type { Secrets } from '#kernel'
import type { WebhookRow } from './rows.ts'

/** Texts that are kept in the clear, as each attempt needs some. */
const mostOpen = 1000

/** What rows of webhooks have encrypted. */
export class WebhookSecrets {
  readonly #secrets: () => Secrets
  readonly #open = new LRUCache<string, string>({ max: mostOpen })

  constructor(secrets: () => Secrets) {
    this.#secrets = secrets
  }

  seal(text: string): string {
    return this.#secrets().encrypt(text)
  }

  sealHeaders(headers: Readonly<Record<string, string>>): Pick<WebhookRow, 'header_names' | 'headers'> {
    const names = Object.keys(headers)
    if (names.length === 0) return { header_names: [] }
    return { header_names: names, headers: this.seal(JSON.stringify(headers)) }
  }

  /** The secrets that sign now, the newest first. */
  signingOf({ secret, former }: WebhookRow, now = new Date()): [string, ...string[]] {
    const older = former && former.until > now.toISOString() ? [this.#opened(former.secret)] : []
    return [this.#opened(secret), ...older]
  }

  headersOf({ headers }: Pick<WebhookRow, 'headers'>): Record<string, string> {
    return headers === undefined ? {} : JSON.parse(this.#opened(headers))
  }

  routingKeyOf({ routing_key: key }: Pick<WebhookRow, 'routing_key'>): string {
    return key === undefined ? '' : this.#opened(key)
  }

  /** Whether a webhook has these headers; not so for what cannot be read any more. */
  areHeaders(row: Pick<WebhookRow, 'headers'>, headers: object | undefined): boolean {
    return headers !== undefined && isSame(() => this.headersOf(row), headers)
  }

  /** The same for its key of PagerDuty. */
  isRoutingKey(row: Pick<WebhookRow, 'routing_key'> | undefined, key: string | undefined): boolean {
    return key !== undefined && row !== undefined && isSame(() => this.routingKeyOf(row), key)
  }

  #opened(sealed: string): string {
    const known = this.#open.get(sealed)
    if (known !== undefined) return known
    const text = this.#secrets().decrypt(sealed)
    this.#open.set(sealed, text)
    return text
  }
}

function isSame(known: () => unknown, given: unknown): boolean {
  try {
    return isDeepStrictEqual(known(), given)
  } catch {
    return false
  }
}
