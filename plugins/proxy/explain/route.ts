import { type Call, type Context, isGatewayError } from '#kernel'
import { type CircuitReader, Circuits, type destinationOf, ProviderDirectory } from '#provider'
import type { Explanation } from './shapes.ts'

export type Chosen = Awaited<ReturnType<typeof destinationOf>>

/** Where a call would go, with which key, and the other candidates. */
export function routeShape(
  context: Context<unknown>,
  call: Call,
  chosen: Chosen | undefined,
  isAdmin: boolean,
): Pick<Explanation, 'route' | 'considered'> {
  return {
    route: chosen ? routeOf(chosen, context.find(Circuits), isAdmin) : null,
    considered: consideredOf(context, call),
  }
}

function routeOf(
  { route, keys }: Chosen,
  circuits: CircuitReader | undefined,
  isAdmin: boolean,
): Explanation['route'] {
  const { provider, model, reason } = route
  const owner = keys[0]?.owner ?? 'none'
  return {
    provider: provider.name,
    model,
    reason,
    circuit: circuits?.state(provider.name, model) ?? 'closed',
    key: {
      owner,
      source: owner === 'user' ? 'user' : provider.keySource,
      ...(isAdmin && { hints: keys.map(({ hint }) => hint) }),
    },
  }
}

function consideredOf({ use }: Context<unknown>, { request, context }: Call): Explanation['considered'] {
  try {
    const routes = use(ProviderDirectory).resolve(request.model, context.provider)
    return routes.map(({ provider, model, reason }) => {
      return { provider: provider.name, model, reason, configured: provider.configured }
    })
  } catch (error) {
    if (isGatewayError(error)) return []
    throw error
  }
}
