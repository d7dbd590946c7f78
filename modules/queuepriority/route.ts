import { z } from 'zod'
import type { OnceContext } from '#kernel'
import { listed, listOf, listQuery, pageOf } from '#kit'
import type { Turns } from './turns.ts'

const count = z.int()

const queue = z.object({
  configuration: z.string().meta({ description: 'The module, or the binding that set the limit.' }),
  target: z.string().meta({ description: 'The provider, or provider/model.' }),
  concurrency: count,
  running: count,
  waiting: count,
  owners: z.array(z.object({ owner: z.string(), running: count, waiting: count })).meta({
    description: 'Tenants, or users without a tenant.',
  }),
})

export function addRoute({ route }: OnceContext, turns: Turns): void {
  route({
    method: 'get',
    path: '/api/modules/queuepriority/queues',
    access: 'admin',
    summary: 'The providers and models with calls, of all threads',
    query: listQuery,
    returns: listOf('queues', queue),
    handle: ({ query }) =>
      listed(
        'queues',
        pageOf(turns.queues, query, ({ configuration, target }) => `${configuration} ${target}`),
        query,
      ),
  })
}
