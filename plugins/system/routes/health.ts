import { z } from 'zod'
import { type Context, internalError } from '#kernel'

const healthy = z.object({ status: z.literal('ok') })

/** Two questions that need no key: whether the process answers, and whether it can serve. */
export function addHealthRoutes({ route }: Context<unknown>, storeAnswers: () => Promise<boolean>): void {
  route({
    method: 'get',
    path: '/health',
    access: 'public',
    summary: 'Whether the process answers',
    returns: healthy,
    handle: () => ({ status: 'ok' as const }),
  })

  route({
    method: 'get',
    path: '/api/health',
    access: 'public',
    summary:
      'Whether a load balancer should send requests here: 503 when the store does not answer or the gateway stops',
    returns: healthy,
    async handle() {
      if (await storeAnswers()) return { status: 'ok' as const }
      throw internalError('The store does not answer.', { status: 503, type: 'unavailable' })
    },
  })
}
