import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { IpRanges } from '../../kit/http/ip-ranges.ts'
import { isFromProxy } from './client.ts'

/** The last value of a header that proxies add to. */
const last = (value: string | string[] | undefined): string | undefined =>
  value?.toString().split(',').at(-1)?.trim()

/** Whether the client reached the gateway, or a trusted proxy before it, over TLS. */
export function isSecure(req: IncomingMessage, trusted: IpRanges): boolean {
  if ((req.socket as Partial<TLSSocket>).encrypted) return true
  return isFromProxy(req, trusted) && last(req.headers['x-forwarded-proto']) === 'https'
}

/**
 * Whether a page of another origin sent the request. Browsers say so by themselves, and no page can say otherwise; what
 * says nothing is no browser.
 */
export function isForeign(req: IncomingMessage, trusted: IpRanges): boolean {
  const { origin, host, 'sec-fetch-site': site, 'x-forwarded-host': forwarded } = req.headers
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  if (origin === undefined) return false
  const own = (isFromProxy(req, trusted) ? last(forwarded) : undefined) ?? host
  return !URL.canParse(origin) || own === undefined || new URL(origin).host !== own.toLowerCase()
}

/** Over TLS the name binds the cookie to this host, so that neighbouring hosts cannot set it. */
const cookieName = (secure: boolean): string => `${secure ? '__Host-' : ''}switchyard_session`

/**
 * The `Set-Cookie` of a session, sent with requests of its own site only and out of the reach of scripts. It lasts so many
 * seconds; 0 takes it back.
 */
export function sessionCookie(
  secret: string,
  { secure, maxAgeS }: { secure: boolean; maxAgeS: number },
): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}`
  return `${cookieName(secure)}=${secret}; ${attributes}${secure ? '; Secure' : ''}`
}

/** The secret of the session that a request came with. */
export function sessionSecret(req: IncomingMessage, trusted: IpRanges): string | undefined {
  const start = `${cookieName(isSecure(req, trusted))}=`
  const found = req.headers.cookie?.split(';').find((cookie) => cookie.trim().startsWith(start))
  return found?.trim().slice(start.length)
}
