import type { IncomingMessage } from 'node:http'
import type { Accounts } from '../accounts.ts'
import type { Principal } from '../call/call.ts'
import { unauthorized } from '../errors.ts'

/** The key a request came with: a bearer token, `X-Admin-Key`, or Anthropic's `x-api-key`. Never the query string. */
export function keyOf({ headers }: IncomingMessage): string | undefined {
  const { authorization } = headers
  if (authorization !== undefined) {
    return /^bearer /i.test(authorization) ? authorization.slice(7).trim() || undefined : undefined
  }
  const key = headers['x-admin-key'] ?? headers['x-api-key']
  return typeof key === 'string' && key !== '' ? key : undefined
}

/** Who calls; throws when there is no key or nobody's. Known keys are answered without a promise. */
export function authenticate(req: IncomingMessage, accounts: Accounts): Principal | Promise<Principal> {
  const key = keyOf(req)
  if (key === undefined) {
    throw unauthorized('There is no key in this request; send it as "Authorization: Bearer <key>".')
  }
  const found = accounts.authenticate(key, req.socket)
  return found instanceof Promise ? found.then(demand) : demand(found)
}

function demand(principal: Principal | undefined): Principal {
  if (!principal) throw unauthorized('This key is not valid: it is unknown, revoked or expired.')
  return principal
}
