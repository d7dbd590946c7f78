import {
  type Arrangement,
  badRequest,
  type Call,
  type Candidate,
  type Credential,
  type GatewayError,
  type TargetHooks,
} from '#kernel'
import type { Route } from '../directory.ts'
import { type KeyStore, UnreadableKey } from '../keys/key-store.ts'
import { RouteCandidate } from './candidate.ts'

/** A route with the keys that a caller has for it. */
export interface Usable {
  readonly route: Route
  readonly keys: readonly Credential[]
  /** The caller's own key for it cannot be read, or what the operator said of it: a call that would take the route is refused. */
  readonly unreadable?: GatewayError | undefined
}

/** Of these routes those that a caller can use, in their order: with a key of its own, or one of the operator's. */
export async function usableRoutes(
  { principal: { userId } }: Call,
  routes: readonly Route[],
  keys: KeyStore,
): Promise<Usable[]> {
  const usable: Usable[] = []
  for (const route of routes) {
    const own = userId === undefined ? undefined : await ownKey(keys, userId, route.provider.name)
    if (route.provider.unreadable) usable.push({ route, keys: [], unreadable: route.provider.unreadable })
    else if (own instanceof UnreadableKey) usable.push({ route, keys: [], unreadable: own })
    else if (own || route.provider.configured) usable.push({ route, keys: own ? [own] : route.provider.keys })
  }
  return usable
}

async function ownKey(
  keys: KeyStore,
  userId: string,
  provider: string,
): Promise<Credential | UnreadableKey | undefined> {
  try {
    return await keys.find(userId, provider)
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
