import type Koa from 'koa'
import { forbidden, unauthorized } from '../../kit/errors.ts'
import type { IpRanges } from '../../kit/http/ip-ranges.ts'
import { WindowLimit } from '../../kit/work/window-limit.ts'
import type { Principal } from '../call/call.ts'
import { Sessions } from '../contract/sessions.ts'
import type { Generation } from '../plugin/generation.ts'
import type { LiveRoute } from '../route.ts'
import { isForeign, sessionSecret } from './browser.ts'
import { type Callers, keyOf } from './caller.ts'

interface AdmissionParts {
  readonly callers: Callers
  readonly trustedProxies: IpRanges
  /** Requests a minute for each admin key. */
  readonly adminRpm: number
}

/** The caller of a route, and the id of the session of the request. */
export interface Admitted {
  readonly principal: Principal | undefined
  readonly session: string | undefined
}

/** Management requests a minute for each session. */
const sessionRpm = 600

/** Lets management requests in: by a key or a browser's session, by the access of their route, within the limits of both. */
export class Admission {
  readonly #parts: AdmissionParts
  readonly #keys: WindowLimit
  readonly #sessions = minuteLimit(sessionRpm)

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    this.#keys = minuteLimit(parts.adminRpm)
  }

  /** Throws when the request may not have the route. A key counts before a session, which comes by itself. */
  async admit(ctx: Koa.Context, route: LiveRoute, generation: Generation): Promise<Admitted> {
    const { access, sameOrigin = false } = route
    if (sameOrigin && isForeign(ctx.req, this.#parts.trustedProxies)) throw foreign()
    if (keyOf(ctx.req) === undefined) {
      if (access === 'public') return { principal: undefined, session: undefined }
      const admitted = await this.#bySession(ctx, route, generation)
      if (admitted) return admitted
    }
    const { callers } = this.#parts
    const principal = await callers.identify(ctx.req, ctx.state.ip as string, generation.tenants)
    ctx.state.principal = principal
    if (principal.type === 'admin') this.#keys.take(principal.keyId, (name, value) => ctx.set(name, value))
    demandAccess(principal, access)
    return { principal, session: undefined }
  }

  /** Undefined for a request without a session, and where sessions are not for: the paths of clients' libraries. */
  async #bySession(
    ctx: Koa.Context,
    { access, path }: LiveRoute,
    { services, tenants }: Generation,
  ): Promise<Admitted | undefined> {
    const { callers, trustedProxies } = this.#parts
    const secret = sessionSecret(ctx.req, trustedProxies)
    const sessions = services.get(Sessions) as Sessions | undefined
    if (secret === undefined || !sessions || /^\/v\d/.test(path)) return undefined
    if (isForeign(ctx.req, trustedProxies)) throw foreign()
    const session = await sessions.find(secret)
    const principal = session && (await callers.holderOf(session.key, tenants))
    if (!principal) throw unauthorized('This session has ended; sign in again.')
    ctx.state.principal = principal
    this.#sessions.take(session.id, (name, value) => ctx.set(name, value))
    demandAccess(principal, access)
    return { principal, session: session.id }
  }
}

const minuteLimit = (limit: number): WindowLimit =>
  new WindowLimit({
    limit,
    windowMs: 60_000,
    refusal: (limit, leftS) => `More than ${limit} management requests in a minute; try again in ${leftS} s.`,
  })

function demandAccess({ type, userId }: Principal, access: LiveRoute['access']): void {
  if (access === 'admin' && type !== 'admin') throw forbidden('This needs an admin key.')
  if (access === 'user' && userId === undefined)
    throw forbidden('This needs a user key: it is about the caller.')
}

const foreign = (): Error => forbidden('Only pages of the gateway itself may send this request.')
