import type { RouterContext } from '@koa/router'
import Koa from 'koa'
import { retryHeaders } from '../../kit/calls/retry-headers.ts'
import { badRequest, ClientGone, envelope, type GatewayError, isMistake } from '../../kit/errors.ts'
import type { IpRanges } from '../../kit/http/ip-ranges.ts'
import { nothingAt } from '../../kit/http/nothing-at.ts'
import { pathMatcher } from '../../kit/http/path-forms.ts'
import { newId } from '../../kit/id.ts'
import { parsePart } from '../../kit/json/parse-part.ts'
import { contain } from '../../kit/work/contain.ts'
import type { Visit } from '../chain/hooks.ts'
import { type AuditedState, audit } from '../events/audit.ts'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Generation } from '../plugin/generation.ts'
import type { LiveRoute } from '../route.ts'
import { toGatewayError } from '../to-gateway-error.ts'
import { Admission, type Admitted } from './admission.ts'
import { asJson, sendAnswer } from './answer.ts'
import { type BodyLimits, readJson } from './body.ts'
import { isSecure } from './browser.ts'
import type { Callers } from './caller.ts'
import { clientAddress } from './client.ts'
import { cors } from './cors.ts'
import { endWithAnswer } from './early-answer.ts'
import { finderOf } from './finder.ts'
import { tellMethods } from './methods.ts'

export interface ManagementParts {
  readonly callers: Callers
  readonly events: Pick<Events, 'emit' | 'emitDurably'>
  readonly log: Log
  readonly generation: () => Generation
  /** Finds a plugin by its id, whether it runs or not. */
  readonly plugin: Parameters<typeof nothingAt>[2]
  readonly trustedProxies: IpRanges
  readonly corsOrigins: readonly string[]
  readonly bodyLimits: BodyLimits
  /** Requests a minute for each admin key. */
  readonly adminRpm: number
}

/** Clients that could also speak over a WebSocket go on over HTTP at this status without asking again. */
function httpOnly(ctx: Koa.Context): Error {
  ctx.set('upgrade', 'HTTP/1.1')
  return badRequest('WebSockets are not supported; use HTTP.', { status: 426 })
}

/** The Koa application of everything below `/api`: the live generation's routes, with access, limits and errors. */
export function createManagement(parts: ManagementParts): Koa {
  const app = new Koa()
  const admission = new Admission(parts)
  app.on('error', () => {})
  app.use(async (ctx, next) => {
    let failure: GatewayError | undefined
    const id = newId('req_')
    ctx.set('x-request-id', id)
    Object.assign(ctx.state, { requestId: id, ip: clientAddress(ctx.req, parts.trustedProxies) })
    const wire = wireOf(ctx, parts.generation())
    if (wire?.idHeader !== undefined) ctx.set(wire.idHeader, id)
    try {
      wire?.check?.({ params: {}, query: ctx.querystring })
      await next()
      if (ctx.status === 404 && ctx.body === undefined)
        throw ctx.headers.upgrade ? httpOnly(ctx) : nothingAt(ctx, parts.generation().wires, parts.plugin)
    } catch (thrown) {
      if (thrown instanceof ClientGone) {
        ctx.respond = false
        ctx.res.destroy()
        return
      }
      const error = toGatewayError(thrown)
      failure = error
      if (isMistake(error)) parts.log.error({ err: error.cause ?? error, request_id: id }, 'a request failed')
      ctx.status = error.status
      if (!ctx.req.complete) endWithAnswer(ctx.req, ctx.res)
      ctx.set(retryHeaders(error, ctx.response.headers))
      ctx.body = asJson(ctx, wire ? wire.error(error, id) : envelope(error, id))
    }
    const { method, status } = ctx
    await audit({ method, status, error: failure, ...(ctx.state as AuditedState) }, parts)
  })
  app.use(cors(parts.corsOrigins))
  app.use(async (plain) => {
    const ctx = plain as RouterContext
    const generation = parts.generation()
    generation.lease()
    ctx.res.once(
      'close',
      contain('the end of a request', () => generation.release()),
    )
    const { chain, routes } = generation
    await chain.admit(visitOf(ctx))
    await finderOf(routes)(ctx, async () => {
      if (ctx.headers.upgrade === undefined) tellMethods(ctx, generation)
    })
    const route = routes[ctx.state.place as number]
    if (!route) return
    Object.assign(ctx.state, { route, params: ctx.params })
    const admitted = await admission.admit(ctx, route, generation)
    const { principal } = admitted
    if (principal) await chain.admit({ ...visitOf(ctx), principal })
    const given = await bodyOf(ctx, route, parts.bodyLimits)
    await answer(ctx, route, { ...admitted, given }, parts)
    // Ends the connection with the answer, rather than read the rest of an upload that the handler left.
    if (!ctx.req.complete) endWithAnswer(ctx.req, ctx.res)
  })
  return app
}

const routesWithWires = ({ routes, wires }: Generation) =>
  [...routes, ...Array.from(wires, (wire) => ({ wire, path: `${wire.path}{+below}` }))].flatMap(
    ({ wire, path }) => (wire ? [{ wire, match: pathMatcher(path) }] : []),
  )

const wireRoutes = new WeakMap<Generation, ReturnType<typeof routesWithWires>>()

/** The wire that a path belongs to: its own, that of a route, or one whose clients ask below it for what there is not. */
function wireOf({ path }: Koa.Context, generation: Generation): LiveRoute['wire'] {
  const known = wireRoutes.get(generation) ?? routesWithWires(generation)
  wireRoutes.set(generation, known)
  return generation.wires.find(path)?.wire ?? known.find(({ match }) => match(path))?.wire
}

/** Bytes of a body of a public route that names no other limit: anybody can send many, and leave them unfinished. */
const mostOfPublic = 64 * 1024

async function bodyOf(ctx: RouterContext, { body, access }: LiveRoute, limits: BodyLimits): Promise<unknown> {
  if (!body) return undefined
  const bytes = access === 'public' ? Math.min(limits.bytes, mostOfPublic) : limits.bytes
  return 'read' in body ? body.read(ctx, bytes, limits.room) : readJson(ctx.req, { ...limits, bytes })
}

const visitOf = ({ state, method, path }: Koa.Context): Visit => ({
  ip: state.ip as string,
  method,
  path,
  isCall: false,
  principal: undefined,
})

async function answer(
  ctx: RouterContext,
  route: LiveRoute,
  { given, ...admitted }: Admitted & { readonly given: unknown },
  parts: ManagementParts,
): Promise<void> {
  const aborted = new AbortController()
  ctx.res.once('close', () => aborted.abort(new Error('the client left')))
  const body = route.body && 'read' in route.body ? given : parsePart(route.body, given, 'body')
  const result = await route.handle({
    params: parsePart(route.params, ctx.params, 'path'),
    query: parsePart(route.query, { ...ctx.query }, 'query'),
    body,
    ...admitted,
    isSecure: isSecure(ctx.req, parts.trustedProxies),
    ip: ctx.state.ip as string,
    requestId: ctx.state.requestId as string,
    headers: ctx.headers,
    signal: aborted.signal,
    header: (name, value) => ctx.set(name, value),
  })
  await sendAnswer(ctx, route, { result, body, left: aborted.signal, log: parts.log })
}
