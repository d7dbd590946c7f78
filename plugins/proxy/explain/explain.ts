import type { z } from 'zod'
import {
  Call,
  type Context,
  callContextOf,
  type GatewayError,
  isGatewayError,
  kernelServices,
  newId,
  notFound,
  type Principal,
  Trace,
} from '#kernel'
import { type DryStep, dryRun } from '#kit'
import { arrangementOf, destinationOf, ProviderDirectory, ProviderKeys } from '#provider'
import { priced } from './price.ts'
import { type Chosen, routeShape } from './route.ts'
import type { Explanation, explainBody } from './shapes.ts'
import { linksOf } from './steps.ts'

interface Asked {
  readonly body: z.infer<typeof explainBody>
  readonly caller: Principal
  readonly ip: string
  readonly isAdmin: boolean
}

/** Predicts the course of a call on the generation that the next one will run on. Sends, counts and stores nothing. */
export async function explain(context: Context<unknown>, asked: Asked): Promise<Explanation> {
  const registry = context.use(kernelServices.registry)
  const { generation } = registry
  generation.lease()
  try {
    const call = await callOf(context, asked)
    const steps = await dryRun(generation.entries, call)
    const last = steps.at(-1)?.after ?? call
    const end = steps.find(({ outcome }) => outcome === 'refuses' || outcome === 'answers')
    const destination = await found(context, last)
    const failure = end ? undefined : destination.error
    return {
      generation: generation.number,
      operation: call.operation,
      wire: call.wire,
      caller: {
        type: call.principal.type,
        key_id: call.principal.keyId,
        user_id: call.principal.userId ?? null,
        plan: call.principal.plan,
      },
      verdict: verdictOf(end, failure),
      error: errorOf(end?.error ?? failure),
      modules: linksOf(registry, steps, asked.isAdmin),
      model_requested: call.request.model,
      model: last.request.model,
      decisions: call.trace.decisions.map(({ kind, chosen, reason }) => ({ kind, chosen, reason })),
      ...routeShape(context, last, destination.chosen, asked.isAdmin),
      ...priced(context, last, destination.chosen && targetOf(destination.chosen)),
    }
  } finally {
    generation.release()
  }
}

async function callOf({ use }: Context<unknown>, { body, caller, ip }: Asked): Promise<Call> {
  const { generation } = use(kernelServices.registry)
  const found = generation.wires.find(body.path)
  if (!found) {
    const paths = generation.wires.paths.join(', ')
    throw notFound(`${body.path} is not a path for model calls; use ${paths}.`, { param: 'path' })
  }
  const { wire, params } = found
  const headers = Object.fromEntries(
    Object.entries(body.headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const trace = new Trace()
  trace.chain = generation.chain.facts
  return new Call({
    id: newId('tr_'),
    operation: wire.operation,
    wire: wire.id,
    principal: caller,
    request: await wire.decode(body.request, { principal: caller, trace }, { params, query: '' }),
    context: callContextOf(headers, ip, generation.number),
    trace,
  })
}

const targetOf = ({ route }: Chosen) => ({ provider: route.provider.name, model: route.model })

async function found(
  { use }: Context<unknown>,
  call: Call,
): Promise<{ chosen?: Chosen; error?: GatewayError }> {
  const directory = use(ProviderDirectory)
  const keys = use(ProviderKeys)
  const { generation } = use(kernelServices.registry)
  try {
    return { chosen: await destinationOf(call, { directory, keys, on: arrangementOf(generation) }) }
  } catch (error) {
    if (isGatewayError(error)) return { error }
    throw error
  }
}

function verdictOf(end: DryStep | undefined, failure: GatewayError | undefined): Explanation['verdict'] {
  if (end) return end.outcome === 'answers' ? 'would_answer' : 'would_refuse'
  return failure ? 'cannot_route' : 'would_call'
}

const errorOf = (error: GatewayError | undefined): Explanation['error'] =>
  error ? { code: error.code, message: error.message, status: error.status } : null
