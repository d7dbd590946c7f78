import type { IncomingMessage } from 'node:http'
import type { Authentication } from '../../accounts/authentication.ts'
import { rateLimited, unauthorized } from '../../kit/errors.ts'
import { continueWith } from '../../kit/work/continue-with.ts'
import type { Principal } from '../call/call.ts'
import { type Tenants, withTenant } from '../contract/tenants.ts'
import type { FailedKeys } from './failed-keys.ts'

/**
 * The key a request came with: a bearer token, `X-Admin-Key`, Anthropic's `x-api-key` or Google's `x-goog-api-key`. Never
 * the query string.
 */
export function keyOf({ headers }: IncomingMessage): string | undefined {
  const { authorization } = headers
  if (authorization !== undefined) {
    return /^bearer /i.test(authorization) ? authorization.slice(7).trim() || undefined : undefined
  }
  const key = headers['x-admin-key'] ?? headers['x-api-key'] ?? headers['x-goog-api-key']
  return typeof key === 'string' && key !== '' ? key : undefined
}

/** Identifies the caller, and blocks addresses whose keys keep failing. */
export class Callers {
  readonly #accounts: Authentication
  readonly #failed: FailedKeys

  constructor(accounts: Authentication, failed: FailedKeys) {
    this.#accounts = accounts
    this.#failed = failed
  }

  /**
   * The caller, with the tenant if there are tenants; throws if the key is missing or unknown. Known keys are answered without a
   * promise.
   */
  identify(
    req: IncomingMessage,
    address: string,
    tenants: Tenants | undefined,
  ): Principal | Promise<Principal> {
    const key = keyOf(req)
    if (key === undefined) {
      throw unauthorized('This request has no key; send one as "Authorization: Bearer <key>".')
    }
    const waitS = this.#failed.waitS(address)
    if (waitS > 0 && !this.#accounts.isNoGuess(key, address)) throw tooManyFailed(waitS)
    const found = this.#accounts.authenticate(key, req.socket, address)
    return continueWith(found, (principal) =>
      principal ? withTenant(principal, tenants) : this.#refuse(address),
    )
  }

  /** The principal of the key with this digest; undefined if no working key has it. */
  async holderOf(digest: string, tenants: Tenants | undefined): Promise<Principal | undefined> {
    const principal = await this.#accounts.holderOf(digest)
    return principal && withTenant(principal, tenants)
  }

  async #refuse(address: string): Promise<never> {
    const waitS = await this.#failed.add(address)
    if (waitS > 0) throw tooManyFailed(waitS)
    throw unauthorized('This key is not valid: it is unknown, revoked or expired.')
  }
}

const tooManyFailed = (retryAfterS: number): Error =>
  rateLimited(`Too many invalid keys from this address; try again in ${retryAfterS} s.`, { retryAfterS })
