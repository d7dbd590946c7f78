import {
  type Arrangement,
  type Awaitable,
  badRequest,
  type Call,
  type Candidate,
  type Credential,
  type GatewayError,
  type TargetHooks,
} from '#kernel'
import type { Route } from '../directory/routing.ts'
import { type KeyStore, UnreadableKey } from '../keys/key-store.ts'
import { RouteCandidate } from './candidate.ts'

/** A route with the keys that a caller has for it. */
export interface Usable {
  readonly route: Route
  readonly keys: readonly Credential[]
  /** The caller's own key for it cannot be read, or what the operator said of it: a call that would take the route is refused. */
  readonly unreadable?: GatewayError | undefined
}

/**
 * Of these routes those that a caller can use, in their order: with a key of its own, or one of the operator's. A promise only
 * while a key has to be looked up.
 */
export function usableRoutes(
  { principal: { userId } }: Call,
  routes: readonly Route[],
  keys: KeyStore,
): Awaitable<Usable[]> {
  const found = routes.map(({ provider }) =>
    userId === undefined ? undefined : keys.find(userId, provider.name),
  )
  if (found.every((own): own is Credential | undefined => !(own instanceof Promise)))
    return usableWith(routes, found)
  return Promise.all(found.map(orUnreadable)).then((own) => usableWith(routes, own))
}

/** The routes that can be used with these keys of the caller's own, one for each route. */
function usableWith(
  routes: readonly Route[],
  own: readonly (Credential | UnreadableKey | undefined)[],
): Usable[] {
  const usable: Usable[] = []
  routes.forEach((route, n) => {
    const key = own[n]
    const { provider } = route
    if (provider.unreadable) usable.push({ route, keys: [], unreadable: provider.unreadable })
    else if (key instanceof UnreadableKey) usable.push({ route, keys: [], unreadable: key })
    else if (key || provider.configured) usable.push({ route, keys: key ? [key] : provider.keys })
  })
  return usable
}

async function orUnreadable(
  key: Awaitable<Credential | undefined>,
): Promise<Credential | UnreadableKey | undefined> {
  try {
    return await key
  } catch (error) {
    if (error instanceof UnreadableKey) return error
    throw error
  }
}

interface Judged {
  readonly usable: Usable
  readonly candidate: Candidate
  readonly refusal: ReturnType<TargetHooks['refusal']>
  readonly preference: number
}

type On = Pick<Arrangement, 'protocols' | 'services' | 'targets'>

/** What modules say of each route, those that they prefer first; the others stay in their order. */
export function judged(call: Call, routes: readonly Usable[], on: On): Judged[] {
  const { targets } = on
  return routes
    .map((usable) => {
      const candidate = new RouteCandidate(usable, on)
      const refusal = targets?.refusal(candidate, call)
      const preference = refusal ? Number.NEGATIVE_INFINITY : (targets?.preference(candidate, call) ?? 0)
      return { usable, candidate, refusal, preference }
    })
    .sort((a, b) => (a.preference === b.preference ? 0 : b.preference - a.preference))
}

/**
 * The route that modules let a call take and prefer. Throws what they say when they let it take none, and for a key or a
 * provider that cannot be read.
 */
export function chosenRoute(call: Call, routes: readonly Usable[], on: On): Usable {
  const all = judged(call, routes, on)
  const [first] = all
  if (!first || first.refusal) throw refused(all)
  if (first.usable.unreadable) throw first.usable.unreadable
  if (first.usable !== routes[0]) {
    call.trace.decide({
      kind: 'target',
      chosen: nameOf(first),
      reason: all.flatMap((one) => (one.refusal ? [reasonOf(one)] : [])).join('; ') || 'modules prefer it',
      considered: routes.map(({ route }) => `${route.provider.name}/${route.model}`),
    })
  }
  return first.usable
}

const nameOf = ({ candidate: { provider, model } }: Judged): string => `${provider}/${model}`
const reasonOf = (one: Judged): string => `${nameOf(one)}: ${one.refusal!.reason}`

function refused(all: readonly Judged[]): GatewayError {
  const targets = all.map((one) => ({ target: nameOf(one), ...one.refusal! }))
  return badRequest(`The call may go nowhere. ${all.map(reasonOf).join('; ')}.`, {
    param: 'model',
    type: 'no_target',
    module: all[0]?.refusal?.module,
    details: { targets },
  })
}
