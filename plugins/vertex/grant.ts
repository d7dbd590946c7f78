import { sign } from 'node:crypto'
import type { GoogleKey } from './key.ts'

export const scope = 'https://www.googleapis.com/auth/cloud-platform'
/** The longest that Google takes. */
const lifetimeS = 3600

/** A request for a token: an assertion signed by an account (RFC 7523), or a user's refresh token (RFC 6749). */
export function grantOf(
  key: Extract<GoogleKey, { kind: 'account' | 'user' }>,
  audience: string,
  nowMs: number,
): URLSearchParams {
  if (key.kind === 'user') {
    return new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: key.clientId,
      client_secret: key.clientSecret,
      refresh_token: key.refreshToken,
    })
  }
  const issuedAt = Math.floor(nowMs / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(key.keyId !== undefined && { kid: key.keyId }) }
  const claims = { iss: key.email, scope, aud: audience, iat: issuedAt, exp: issuedAt + lifetimeS }
  const toSign = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  const signature = sign('sha256', Buffer.from(toSign), key.privateKey).toString('base64url')
  return new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: `${toSign}.${signature}`,
  })
}
