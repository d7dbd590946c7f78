import { type Arrangement, type Call, type Candidate, type Generation, isGatewayError } from '#kernel'
import type { Route } from '../directory/routing.ts'
import { judged, usableRoutes } from './choice.ts'
import type { Parts } from './destination.ts'
import { ledCall } from './led-call.ts'

interface Asked extends Omit<Parts, 'on'> {
  readonly on: Pick<Generation, 'entries'> & Pick<Arrangement, 'protocols' | 'services' | 'targets'>
  /** The plugin that asks. */
  readonly asker: string | undefined
}

/**
 * Where a call would go, best first: by its model, or the one that aliases and rules lead to from where the asker stands, with the
 * keys of its caller, and as far as modules let it. Empty when it would be refused.
 */
export async function targetsOf(
  call: Call,
  { directory, keys, on, asker }: Asked,
): Promise<readonly Candidate[]> {
  const led = await ledCall(call, on.entries, asker)
  if (!led) return []
  const routes = routesOf(led, directory).filter(({ provider }) => {
    const wires = on.protocols.get(provider.protocol)?.wires
    return wires?.[call.operation] !== undefined && provider.spec.operations.includes(call.operation)
  })
  const all = judged(led, await usableRoutes(led, routes, keys), on)
  const open = all.filter(({ refusal }) => !refusal)
  if (open[0]?.usable.unreadable) return []
  return open.filter(({ usable }) => !usable.unreadable).map(({ candidate }) => candidate)
}

function routesOf({ request, context }: Call, directory: Parts['directory']): readonly Route[] {
  try {
    return directory.resolve(request.model, context.provider)
  } catch (error) {
    if (isGatewayError(error)) return []
    throw error
  }
}
