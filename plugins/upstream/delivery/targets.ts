import { type Call, type Candidate, isGatewayError } from '#kernel'
import type { Route } from '../directory.ts'
import { ModelAliases, type ModelNames } from '../kit/models.ts'
import { judged, usableRoutes } from './choice.ts'
import type { Parts } from './destination.ts'

/**
 * Where a call would go, best first: by its model, or the one that an alias stands for, with the keys of its caller, and as far as
 * modules let it. Empty when it would be refused.
 */
export async function targetsOf(call: Call, { directory, keys, on }: Parts): Promise<readonly Candidate[]> {
  const routes = routesOf(call, { directory, on }).filter(({ provider }) => {
    const wires = on.protocols.get(provider.protocol)?.wires
    return wires?.[call.operation] !== undefined && provider.spec.operations.includes(call.operation)
  })
  const all = judged(call, await usableRoutes(call, routes, keys), on)
  return all.filter(({ refusal }) => !refusal).map(({ candidate }) => candidate)
}

function routesOf(
  { request, context }: Call,
  { directory, on }: Pick<Parts, 'directory' | 'on'>,
): readonly Route[] {
  const aliases = on.services.get(ModelAliases) as ModelNames | undefined
  try {
    return directory.resolve(aliases?.modelOf(request.model) ?? request.model, context.provider)
  } catch (error) {
    if (isGatewayError(error)) return []
    throw error
  }
}
