import { z } from 'zod'
import type { Context } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import type { Endpoints } from './endpoints.ts'

const base = '/api/modules/localsync/endpoints'

const endpointItem = z.object({
  provider: z.string(),
  base_url: z.string(),
  status: z.enum(['up', 'down']).meta({ description: 'By the last check, or a call that failed since.' }),
  models: z.array(z.string()).meta({ description: 'The models of its last list.' }),
  checked_at: z.string(),
  message: z.string().meta({ description: 'Result of the check.' }),
})

/** The local servers, for admins. */
export function addRoutes({ route }: Context<unknown>, endpoints: Endpoints): void {
  route({
    method: 'get',
    path: base,
    access: 'admin',
    summary: 'The local servers and their models',
    query: listQuery,
    returns: listOf('endpoints', endpointItem),
    handle: ({ query }) =>
      listed(
        'endpoints',
        pageOf([...endpoints.all], query, ({ provider }) => provider),
        query,
      ),
  })

  route({
    method: 'post',
    path: `${base}/sync`,
    access: 'admin',
    reads: true,
    summary: 'Check the local servers now',
    returns: z.object({ endpoints: z.array(endpointItem) }),
    async handle() {
      await endpoints.sync()
      return { endpoints: [...endpoints.all] }
    },
  })
}
