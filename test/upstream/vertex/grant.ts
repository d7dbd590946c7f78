import { type KeyObject, verify } from 'node:crypto'

/** Who may get tokens at Google: accounts by their public keys, users by their refresh tokens. */
export interface Known {
  readonly accounts: Readonly<Record<string, KeyObject>>
  readonly users: Readonly<Record<string, { readonly id: string; readonly secret: string }>>
}

/** What is wrong with a request for a token; undefined for a good one. */
export function grantFault(form: URLSearchParams, { accounts, users }: Known): string | undefined {
  const fields = [...form.keys()].toSorted().join()
  if (form.get('grant_type') === 'refresh_token') {
    if (fields !== 'client_id,client_secret,grant_type,refresh_token') return 'invalid_request'
    const user = users[form.get('refresh_token')!]
    if (user?.id !== form.get('client_id')) return 'invalid_grant'
    return user?.secret === form.get('client_secret') ? undefined : 'invalid_client'
  }
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
    return 'unsupported_grant_type'
  if (fields !== 'assertion,grant_type') return 'invalid_request'
  return assertionFault(form.get('assertion')!, accounts)
}

function assertionFault(assertion: string, accounts: Known['accounts']): string | undefined {
  const [head = '', body = '', signature = ''] = assertion.split('.')
  const [header, claims] = [head, body].map(
    (part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>,
  )
  const key = accounts[String(claims?.iss)]
  if (header?.alg !== 'RS256' || !key) return 'invalid_grant'
  if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url')))
    return 'invalid_grant'
  const { iat, exp, aud, scope } = claims as Record<string, unknown>
  const nowS = Date.now() / 1000
  if (typeof iat !== 'number' || typeof exp !== 'number') return 'invalid_grant'
  if (Math.abs(nowS - iat) > 60 || exp <= nowS || exp - iat > 3600) return 'invalid_grant'
  if (typeof aud !== 'string' || !aud.endsWith('/token')) return 'invalid_grant'
  return scope === 'https://www.googleapis.com/auth/cloud-platform' ? undefined : 'invalid_scope'
}
