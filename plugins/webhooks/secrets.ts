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

  headersOf({ headers }: WebhookRow): Record<string, string> {
    return headers === undefined ? {} : JSON.parse(this.#opened(headers))
  }

  routingKeyOf({ routing_key: key }: WebhookRow): string {
    return key === undefined ? '' : this.#opened(key)
  }

  #opened(sealed: string): string {
    const known = this.#open.get(sealed)
    if (known !== undefined) return known
    const text = this.#secrets().decrypt(sealed)
    this.#open.set(sealed, text)
    return text
  }
}
