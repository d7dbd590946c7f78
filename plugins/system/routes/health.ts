import { z } from 'zod'
import { type Context, draining, internalError, kernelServices, unavailable } from '#kernel'

const health = z.object({
  status: z.enum(['ok', 'degraded']),
  reason: z.string().optional().meta({ description: 'Reason, if degraded.' }),
})

/** Two questions that need no key: whether the process answers, and whether it can serve. */
export function addHealthRoutes(
  { route, use }: Context<unknown>,
  storeAnswers: () => Promise<boolean>,
): void {
  const state = use(kernelServices.storeState)
  const runtime = use(kernelServices.runtime)
  const present = (): z.infer<typeof health> => {
    if (runtime.isDraining) throw draining()
    return state.problem === undefined ? { status: 'ok' } : { status: 'degraded', reason: state.problem }
  }

  route({
    method: 'get',
    path: '/health',
    access: 'public',
    summary:
      'Whether the process answers, and whether something keeps it from doing all it does: 503 while it drains',
    throws: [503],
    returns: health,
    handle: present,
  })

  route({
    method: 'get',
    path: '/api/health',
    access: 'public',
    summary:
      'Whether a load balancer should send requests here: 503 when the store does not answer or the gateway stops',
    returns: health,
    async handle() {
      if (await storeAnswers()) return present()
      throw internalError('The store does not respond.', unavailable)
    },
  })
}
