import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { networkOf, WindowLimit } from '#kit'
import type { newShare, ShareRow } from './row.ts'

export const linkParams = z.strictObject({ id: z.string().min(1).max(100) })

/** What a request tells of the address that its client reaches the gateway by. */
interface Reached {
  readonly headers: IncomingHttpHeaders
  readonly isSecure: boolean
}

/** How shares are linked, and how often strangers may read. */
export class Links {
  readonly #publicUrl: string | undefined
  readonly #reads: WindowLimit | undefined

  constructor({ publicUrl, readsPerMinute }: { publicUrl: string | undefined; readsPerMinute: number }) {
    this.#publicUrl = publicUrl?.replace(/\/+$/, '')
    this.#reads =
      readsPerMinute === 0
        ? undefined
        : new WindowLimit({
            limit: readsPerMinute,
            windowMs: 60_000,
            refusal: (limit, leftS) =>
              `More than ${limit} shares read from your address in a minute; try again in ${leftS} s.`,
          })
  }

  /** What whoever made a share gets to pass on. */
  of(
    path: string,
    { row, secret }: { row: ShareRow; secret: string },
    reached: Reached,
  ): z.infer<typeof newShare> {
    const url = `${path}/${secret}`
    const { id: share_id, expires_at } = row
    return { id: secret, share_id, url, full_url: `${this.#origin(reached)}${url}`, expires_at }
  }

  /** Counts one read of an address, and says that search engines should leave the answer out. Throws when there were too many. */
  admit(ip: string, header: (name: string, value: string) => void): void {
    this.#reads?.take(networkOf(ip), header)
    header('x-robots-tag', 'noindex, nofollow')
  }

  #origin({ headers: { host = '' }, isSecure }: Reached): string {
    if (this.#publicUrl !== undefined) return this.#publicUrl
    const origin = `${isSecure ? 'https' : 'http'}://${host}`
    return URL.canParse(origin) ? new URL(origin).origin : ''
  }
}
